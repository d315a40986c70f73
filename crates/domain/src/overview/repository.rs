//! The port to the figures of the first page that no other port has. It only reads.

use super::{HourFigure, ReasonFigure, UnsettledGroups};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Counts for the first page, of one organization or of all (`None`).
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait OverviewRepository: Send + Sync + 'static {
    /// Counts the groups that are new or regressed and have a report. The `limit` groups that were seen last come with
    /// the counts.
    async fn unsettled_groups(
        &self,
        organization: Option<OrganizationId>,
        limit: u64,
    ) -> Result<UnsettledGroups, StoreError>;

    /// Counts the refusals since `since` by reason: the most frequent first, ties by reason. For an organization,
    /// refusals of its callers count, and those of unknown callers who named one of its computers.
    async fn refusals_by_reason(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonFigure>, StoreError>;

    /// Counts the log entries of each of the last `hours` whole hours up to the hour of `now`, oldest first; hours
    /// without an entry are 0. An entry MUST count if it is stored within a minute of its receipt. An entry that
    /// retention has removed may still count.
    async fn log_entries_by_hour(
        &self,
        organization: Option<OrganizationId>,
        now: Timestamp,
        hours: u32,
    ) -> Result<Vec<HourFigure>, StoreError>;

    /// Counts the resources of which a registered computer has an outdated content (decision I9). The count may be a
    /// minute old. For an organization, the resources on its computers count. A resource of another organization than
    /// the computer's MUST count only while a publisher publishes it (decisions P8 and T15).
    async fn outdated_resources(&self, organization: Option<OrganizationId>) -> Result<u64, StoreError>;
}
