//! The port to the groups of crash reports, for operators.

use super::{
    CrashGroupDetails, CrashGroupId, DailyReports, GroupCursor, GroupFilter, GroupSort, GroupVersion, StateChange,
    Tally,
};
use crate::audit::NewAuditRecord;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Reads groups of crash reports and changes their state.
/// [`crate::crash_analysis::CrashAnalysisRepository`] creates groups and counts reports.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashGroupRepository: Send + Sync + 'static {
    /// At most `limit` groups after `after` that match `filter`, in the order of `sort`, of one organization or of all
    /// (`None`). Groups without a report are left out unless an operator acknowledged or resolved them.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &GroupFilter,
        sort: GroupSort,
        after: Option<GroupCursor>,
        limit: u64,
    ) -> Result<Vec<CrashGroupDetails>, StoreError>;

    /// The group with this id in this organization, or in any (`None`).
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashGroupId,
    ) -> Result<Option<CrashGroupDetails>, StoreError>;

    /// The tallies of a group: the `limit` most frequent values of each kind, ties by value.
    async fn tallies(&self, id: CrashGroupId, limit: u64) -> Result<Vec<Tally>, StoreError>;

    /// How many stored reports of these groups were received on each day of 24 hours from `since` on, in any order.
    /// Days without a report are left out.
    async fn daily(&self, ids: &[CrashGroupId], since: Timestamp) -> Result<Vec<DailyReports>, StoreError>;

    /// Changes the state of a group at `now` and stores the audit record in the same transaction. Changes nothing and
    /// returns `false` if the organization has no such group, or its version isn't `expected`.
    async fn set_state(
        &self,
        organization: OrganizationId,
        id: CrashGroupId,
        change: StateChange,
        expected: &GroupVersion,
        now: Timestamp,
        record: &NewAuditRecord,
    ) -> Result<bool, StoreError>;
}
