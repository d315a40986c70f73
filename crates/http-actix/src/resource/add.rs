//! Add or update a resource (interface 4.1).

use crate::call::{Call, to_its_end};
use crate::error::Fault;
use crate::headers::joined;
use crate::reply::Answer;
use actix_web::http::header::HeaderName;

const TIMESTAMP: HeaderName = HeaderName::from_static("timestamp");

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let (services, caller) = (call.services(), call.caller());
    let timestamp = joined(&call.head.headers, &TIMESTAMP);
    let mut parts = call.parts();
    to_its_end(async move { services.resources.add(&caller, timestamp.as_deref(), &mut parts).await }).await?;
    Ok(Answer::success("Resource successfully added"))
}
