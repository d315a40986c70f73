//! The port to the groups, for people.

use super::{CrashGroup, CrashGroupDetails, CrashGroupId, GroupCursor, GroupFilter, StateChange, Tally};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// The groups of crash reports. [`crate::crash_analysis::CrashAnalysisRepository`] makes and counts them.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashGroupRepository: Send + Sync + 'static {
    /// The groups of these organizations that match, together in one order: last seen first, of one time the higher id
    /// first. At most `limit`, those after `after`. Groups without a report are left out, unless a person acknowledged
    /// or resolved them.
    async fn page(
        &self,
        organizations: &[OrganizationId],
        filter: &GroupFilter,
        after: Option<GroupCursor>,
        limit: u64,
    ) -> Result<Vec<CrashGroupDetails>, StoreError>;

    /// The group of this id, if it is of one of these organizations.
    async fn find(
        &self,
        organizations: &[OrganizationId],
        id: CrashGroupId,
    ) -> Result<Option<CrashGroupDetails>, StoreError>;

    /// What is counted of its reports: of each kind the most frequent `limit`, ties by value.
    async fn tallies(&self, id: CrashGroupId, limit: u64) -> Result<Vec<Tally>, StoreError>;

    /// Changes the state of a group at `now`, and returns the group as it was and as it is. `None` if there is no such
    /// group of the organization.
    async fn set_state(
        &self,
        organization: OrganizationId,
        id: CrashGroupId,
        change: StateChange,
        now: Timestamp,
    ) -> Result<Option<(CrashGroup, CrashGroup)>, StoreError>;
}
