//! The port through which old records are removed.

use super::{RemovalCursor, RemovalOutcome};
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Removes old records of all organizations, a batch at a time.
///
/// Each call is one short transaction. It removes records that were received before `before` (one that was
/// received at that moment MUST stay), from `from` on in the order of [`RemovalCursor`], at most `limit` of them. It may
/// remove fewer though there are more, but MUST come forward then. Of several processes at once one removes; the
/// others MUST be told [`RemovalOutcome::Elsewhere`] or have their turn after it.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait RetentionRepository: Send + Sync + 'static {
    /// Removes log entries.
    async fn remove_logs(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
    ) -> Result<RemovalOutcome, StoreError>;

    /// Removes crash reports with all their parts. The blobs of the parts MUST be entered as discarded at `now`
    /// in the same step.
    async fn remove_crash_reports(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
        now: Timestamp,
    ) -> Result<RemovalOutcome, StoreError>;

    /// Removes changes and samples of devices (decision I1), not the last statuses.
    async fn prune_device_history(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
    ) -> Result<RemovalOutcome, StoreError>;
}
