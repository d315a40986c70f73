//! The port to the analyses of crash reports.

use super::{AnalyzedReport, CrashAnalysis, PendingReport, Recorded, Requeue};
use crate::error::StoreError;
use crate::guid::CrashReportId;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// The queue of reports that wait for an analysis, and the stored analyses.
///
/// A report MUST enter the queue in the transaction that stores it
/// ([`crate::crash_report::CrashReportRepository::add`]). A report MUST be counted once, in at most one group, with any
/// number of concurrent processes.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashAnalysisRepository: Send + Sync + 'static {
    /// Leases at most `limit` waiting reports until `until`, the longest waiting first. No other call returns them
    /// before that time. Reports whose lease ended at `now` or before are returned again.
    async fn take(&self, now: Timestamp, until: Timestamp, limit: u64) -> Result<Vec<PendingReport>, StoreError>;

    /// Stores an analysis in one transaction: the report leaves the queue and is counted in the group of its signature
    /// and in no other one. A resolved group regresses as [`crate::crash_group::CrashGroup::regresses`] says.
    /// Returns [`Recorded::Obsolete`] if the report isn't in the queue or is removed.
    async fn record(&self, analysis: CrashAnalysis) -> Result<Recorded, StoreError>;

    /// Looks at the next `limit` reports by id, after `after`, and puts those that `which` selects into the queue.
    /// Returns the last id that was looked at (`None` after the last report), and how many reports were queued.
    async fn requeue(
        &self,
        which: Requeue,
        after: Option<CrashReportId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<(Option<CrashReportId>, u64), StoreError>;

    /// The analyses of these reports, in any order. Reports without an analysis are left out.
    async fn find(&self, reports: &[CrashReportId]) -> Result<Vec<AnalyzedReport>, StoreError>;

    /// The length of the queue.
    async fn waiting(&self) -> Result<u64, StoreError>;
}
