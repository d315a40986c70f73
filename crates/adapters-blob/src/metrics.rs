//! Durations of blob operations by outcome.

use domain::error::StoreError;
use metering::catalog;
use std::future::Future;
use std::time::Instant;

/// Runs an operation and records how long it took.
pub(crate) async fn timed<T>(
    operation: &'static str,
    work: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    let began = Instant::now();
    let result = work.await;
    record(operation, began, outcome(&result));
    result
}

/// Does the same for a blob that may be missing.
pub(crate) async fn timed_lookup<T>(
    operation: &'static str,
    work: impl Future<Output = Result<Option<T>, StoreError>> + Send,
) -> Result<Option<T>, StoreError> {
    let began = Instant::now();
    let result = work.await;
    let outcome = if matches!(result, Ok(None)) { "missing" } else { outcome(&result) };
    record(operation, began, outcome);
    result
}

/// The duration of an upload, from its creation to its durable end or its first failure. An upload
/// without such an end is recorded as aborted.
pub(crate) struct UploadTimer {
    began: Instant,
    recorded: bool,
}

impl UploadTimer {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), recorded: false }
    }

    pub(crate) fn stop<T>(&mut self, result: &Result<T, StoreError>) {
        self.record(outcome(result));
    }

    fn record(&mut self, outcome: &'static str) {
        if !std::mem::replace(&mut self.recorded, true) {
            record("write", self.began, outcome);
        }
    }
}

impl Drop for UploadTimer {
    fn drop(&mut self) {
        self.record("aborted");
    }
}

fn record(operation: &'static str, began: Instant, outcome: &'static str) {
    catalog::BLOB_OPERATION_DURATION.with([operation, outcome]).record(began.elapsed());
}

fn outcome<T>(result: &Result<T, StoreError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(StoreError::Unavailable(_)) => "unavailable",
        Err(_) => "failed",
    }
}
