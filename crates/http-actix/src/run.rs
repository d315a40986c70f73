//! Work that outlives its client.

use domain::error::{Outcome, StoreError};
use std::future::Future;

/// Runs a write to its end, even if the client hangs up meanwhile.
pub(crate) async fn run_to_completion<T: 'static>(write: impl Future<Output = Outcome<T>> + 'static) -> Outcome<T> {
    match actix_web::rt::spawn(write).await {
        Ok(outcome) => outcome,
        // What the task says of a panic repeats its message (ADR 49).
        Err(_) => Err(StoreError::other("the operation panicked").into()),
    }
}
