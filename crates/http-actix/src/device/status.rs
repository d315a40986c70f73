//! Update the status of a device (interface 4.10).

use crate::call::{Call, to_its_end};
use crate::error::Fault;
use crate::reply::Answer;

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let (services, caller) = (call.services(), call.caller());
    to_its_end(async move { services.device_statuses.update(&caller, &body).await }).await?;
    Ok(Answer::success("Device status successfully updated"))
}
