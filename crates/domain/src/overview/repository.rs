//! The port to the figures that no other port has. It only reads.

use super::{HourFigure, ReasonFigure, UnsettledGroups};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Figures of one organization, or of all for `None`.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait OverviewRepository: Send + Sync + 'static {
    /// Counts the groups that are new or regressed and have a report, with those `limit` that were last seen last.
    async fn unsettled_groups(
        &self,
        organization: Option<OrganizationId>,
        limit: u64,
    ) -> Result<UnsettledGroups, StoreError>;

    /// Counts the refusals since a time by reason: the most frequent first, ties by reason. Of an organization those
    /// count that its callers got, and those of callers who named one of its computers.
    async fn refusals_by_reason(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonFigure>, StoreError>;

    /// Counts the log entries of as many whole hours as `hours`, of which `now` lies in the last: oldest first, also
    /// those without any entry. An entry MUST count if it is stored within a minute of its receipt. Retention may leave
    /// the count of an hour as it was.
    async fn log_entries_by_hour(
        &self,
        organization: Option<OrganizationId>,
        now: Timestamp,
        hours: u32,
    ) -> Result<Vec<HourFigure>, StoreError>;

    /// Counts the resources of which a registered computer has a content that isn't the present one (decision I9). The
    /// count may be a minute old. Of an organization the resources count that its computers have.
    async fn outdated_resources(&self, organization: Option<OrganizationId>) -> Result<u64, StoreError>;
}
