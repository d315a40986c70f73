//! DELETE /api/v2/resource/{guid}: delete a resource (interface 4.3).

use super::conditional::preconditions;
use crate::answer::Message;
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::openapi::description::Description;
use crate::openapi::schema;
use crate::run::run_to_completion;
use actix_web::HttpRequest;
use actix_web::web::{Data, Path};
use domain::error::Reason;
use domain::resource::{Preconditions, ResourceService};

const DELETED: &str = "Resource successfully deleted";

pub(crate) async fn delete_resource(
    request: HttpRequest,
    caller: Caller,
    guid: Path<String>,
    resources: Data<ResourceService>,
) -> Result<Message<'static>, ApiError> {
    let preconditions = preconditions(&request);
    run_to_completion(async move { resources.delete(&caller, Some(&guid), preconditions).await }).await?;
    Ok(Message::new(DELETED))
}

/// DELETE /api/v2/resource names nothing to delete (decision T16).
pub(crate) async fn delete_without_guid(
    caller: Caller,
    resources: Data<ResourceService>,
) -> Result<Message<'static>, ApiError> {
    resources.delete(&caller, None, Preconditions::None).await?;
    Ok(Message::new(DELETED))
}

pub(crate) fn description() -> Description {
    let text = "Deletes a resource of the caller's own organization that no queue or job uses.";
    Description::new("Delete a resource", text)
        .header("If-Match", "ETags: 412 if the file has none of them.", schema::text(""))
        .header("If-Unmodified-Since", "A date: 412 if the file was modified since.", schema::text(""))
        .answers_message(DELETED)
        .refuses([
            Reason::ResourceGuidMissing,
            Reason::ResourceToDeleteNotFound,
            Reason::PreconditionFailed,
            Reason::ResourceInUse,
        ])
}

/// Its path has nothing to delete, but an answer of its own (decision T16).
pub(crate) fn description_without_guid() -> Description {
    let text = "A path without a GUID names nothing: this is always refused.";
    Description::new("Delete no resource", text).refuses([Reason::ResourceGuidMissing])
}
