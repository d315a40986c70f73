//! Opening a database again while its error may pass.

use crate::database_url::DatabaseUrl;
use crate::error::{OpenError, describe, is_transient};
use backon::{ExponentialBuilder, Retryable};
use sea_orm::sqlx;
use std::future::Future;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Retries while the database does not answer, and the pause before the first one; it doubles each time.
const MAX_RETRIES: u32 = 5;
const MIN_PAUSE: Duration = Duration::from_millis(100);

/// Retries `open` a bounded number of times while its error may pass.
pub(crate) async fn retry<T, F>(url: &DatabaseUrl, wait: Duration, open: impl Fn() -> F) -> Result<T, OpenError>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let backoff =
        ExponentialBuilder::default().with_factor(2.0).with_min_delay(MIN_PAUSE).with_max_times(MAX_RETRIES as usize);
    let attempt = || async { timeout(wait, open()).await.unwrap_or(Err(sqlx::Error::PoolTimedOut)) };
    let warn = |error: &sqlx::Error, _: Duration| {
        tracing::warn!(database = url.name(), cause = describe(error), "the database can't be reached yet");
    };
    let opened = attempt.retry(backoff).sleep(sleep).when(is_transient).notify(warn).await;
    opened.map_err(|error| {
        let (database, cause) = (url.name(), describe(&error));
        if is_transient(&error) {
            OpenError::Unreachable { database, tries: MAX_RETRIES + 1, cause }
        } else {
            OpenError::Refused { database, cause }
        }
    })
}
