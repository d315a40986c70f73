//! The port to the groups, for people.

use super::{
    CrashGroupDetails, CrashGroupId, DailyReports, GroupCursor, GroupFilter, GroupSort, GroupVersion, StateChange,
    Tally,
};
use crate::audit::NewAuditRecord;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// The groups of crash reports. [`crate::crash_analysis::CrashAnalysisRepository`] makes and counts them.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashGroupRepository: Send + Sync + 'static {
    /// The groups of an organization, or of all of them (`None`), that match: in the order of `sort`, at most `limit`,
    /// those after `after`. Groups without a report are left out, unless a person acknowledged or resolved them.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &GroupFilter,
        sort: GroupSort,
        after: Option<GroupCursor>,
        limit: u64,
    ) -> Result<Vec<CrashGroupDetails>, StoreError>;

    /// The group of this id, if it is of this organization; `None` stands for any.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashGroupId,
    ) -> Result<Option<CrashGroupDetails>, StoreError>;

    /// What is counted of its reports: of each kind the most frequent `limit`, ties by value.
    async fn tallies(&self, id: CrashGroupId, limit: u64) -> Result<Vec<Tally>, StoreError>;

    /// How many stored reports of these groups were received on each day of 24 hours from `since` on, in any order. Days
    /// without a report are left out.
    async fn daily(&self, ids: &[CrashGroupId], since: Timestamp) -> Result<Vec<DailyReports>, StoreError>;

    /// Changes the state of a group at `now` and stores the record, both or neither. Does nothing and returns `false` if
    /// the organization has no such group, or its version isn't `expected`.
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
