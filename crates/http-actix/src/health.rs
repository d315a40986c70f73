//! What operators ask: is the process alive, can it work, how is it doing.

use crate::error::Fault;
use crate::reply::{Answer, Content};
use crate::route::Operation;
use crate::server::Shared;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use async_trait::async_trait;

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
            Ok(()) => Ok(Answer::success("Ready")),
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
        _ => Ok(Answer::success("Live")),
    }
}
