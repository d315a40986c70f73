//! Delete a resource (interface 4.3).

use crate::call::{Call, to_its_end};
use crate::error::Fault;
use crate::reply::Answer;

pub(crate) async fn handle(call: Call<'_>) -> Result<Answer, Fault> {
    let (services, caller) = (call.services(), call.caller());
    let guid = call.admission.guid;
    to_its_end(async move { services.resources.delete(&caller, guid.as_deref()).await }).await?;
    Ok(Answer::success("Resource successfully deleted"))
}
