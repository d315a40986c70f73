//! Delete a resource (interface 4.3).

use crate::call::{Call, to_its_end};
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::reply::Answer;
use domain::error::Reason;

const DELETED: &str = "Resource successfully deleted";

pub(crate) async fn handle(call: Call<'_>) -> Result<Answer, Fault> {
    let (services, caller) = (call.services(), call.caller());
    let guid = call.admission.guid;
    to_its_end(async move { services.resources.delete(&caller, guid.as_deref()).await }).await?;
    Ok(Answer::success(DELETED))
}

pub(crate) fn description() -> Description {
    let text = "Deletes a resource of the caller's own organization that no queue or job uses.";
    Description::new("Delete a resource", text).answers_message(DELETED).refuses([
        Reason::ResourceGuidMissing,
        Reason::ResourceToDeleteNotFound,
        Reason::ResourceInUse,
    ])
}

/// Its path has nothing to delete, but an answer of its own (decision T16).
pub(crate) fn description_without_guid() -> Description {
    let text = "A path without a GUID names nothing: this is always refused.";
    Description::new("Delete no resource", text).refuses([Reason::ResourceGuidMissing])
}
