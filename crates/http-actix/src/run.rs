//! Writes that run to completion even if the client disconnects.

use domain::error::{Outcome, StoreError};
use std::future::Future;

/// Runs a write to completion, even if the client disconnects.
pub(crate) async fn run_to_completion<T: 'static>(write: impl Future<Output = Outcome<T>> + 'static) -> Outcome<T> {
    match actix_web::rt::spawn(write).await {
        Ok(outcome) => outcome,
        // The text of a `JoinError` would repeat the message of the panic (ADR 49).
        Err(_) => Err(StoreError::other("the operation panicked").into()),
    }
}
