//! What operators ask: is the process alive, can it work, how is it doing.

use crate::error::Fault;
use crate::openapi::description::Description;
use crate::reply::{Answer, Content};
use crate::route::Operation;
use crate::server::Shared;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use async_trait::async_trait;

const LIVE: &str = "Live";

const READY: &str = "Ready";

/// Whether the stores that we need can be reached.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// The error says what can't be reached, for the log.
    async fn check(&self) -> Result<(), String>;
}

/// Answers an operation that asks for no credentials.
pub(crate) async fn handle(operation: Operation, shared: &Shared) -> Result<Answer, Fault> {
    match operation {
        Operation::Ready => match shared.services.readiness.check().await {
            Ok(()) => Ok(Answer::success(READY)),
            Err(cause) => {
                tracing::warn!(cause, "not ready");
                Err(Fault::NotReady)
            }
        },
        Operation::Metrics => {
            let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            let metrics = (shared.metrics)();
            Ok(Answer::new(StatusCode::OK, Content::Whole(metrics.into())).with(&CONTENT_TYPE, text))
        }
        _ => Ok(Answer::success(LIVE)),
    }
}

pub(crate) fn description_of_live() -> Description {
    Description::new("Is the process alive?", "Asks for no credentials.").answers_message(LIVE)
}

pub(crate) fn description_of_ready() -> Description {
    let text = "Whether the database and the blob store can be reached. Asks for no credentials.";
    Description::new("Can the server work?", text).answers_message(READY).fails(Fault::NotReady)
}
