//! The port to the analyses of crash reports.

use super::{AnalyzedReport, CrashAnalysis, PendingReport, Recorded, Requeue};
use crate::error::StoreError;
use crate::guid::CrashReportId;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Which reports wait for an analysis, and the analyses.
///
/// Every report MUST wait from the moment at which it is stored ([`crate::crash_report::CrashReportRepository::add`]).
/// A report is counted in at most one group, once, whatever processes do at the same time.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashAnalysisRepository: Send + Sync + 'static {
    /// Takes at most `limit` reports that wait, the longest waiting first, until `until`: they are given to nobody else
    /// before that time. A report that was taken until a time up to `now` is given again.
    async fn take(&self, now: Timestamp, until: Timestamp, limit: u64) -> Result<Vec<PendingReport>, StoreError>;

    /// Stores an analysis in one step: the report waits no more, and it is counted in the group of its signature and in
    /// no other one. A resolved group regresses as [`crate::crash_group::CrashGroup::regresses`] says.
    /// [`Recorded::Obsolete`] if the report didn't wait or is gone.
    async fn record(&self, analysis: CrashAnalysis) -> Result<Recorded, StoreError>;

    /// Lets reports wait for a new analysis: of at most `limit` with an id above `after`, those that `which` means.
    /// Returns the last id that was looked at, `None` at the end, and how many wait anew.
    async fn requeue(
        &self,
        which: Requeue,
        after: Option<CrashReportId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<(Option<CrashReportId>, u64), StoreError>;

    /// The analyses of these reports, as far as there are any, in any order.
    async fn find(&self, reports: &[CrashReportId]) -> Result<Vec<AnalyzedReport>, StoreError>;

    /// How many reports wait.
    async fn waiting(&self) -> Result<u64, StoreError>;
}
