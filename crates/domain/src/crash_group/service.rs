//! The use cases of operators on groups of crash reports.

#[cfg(test)]
mod tests;

use super::{
    CrashGroup, CrashGroupDetails, CrashGroupId, CrashGroupRepository, DailyReports, GroupCursor, GroupFilter,
    GroupSort, GroupVersion, StateChange, Tally,
};
use crate::audit::{AuditAction, AuditedValue};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::operator::{Actor, OperatorError, OrganizationList, Scope};
use crate::page::{Page, PageRequest};
use crate::timestamp::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Days in the daily counts, in UTC, today included.
pub const DAYS: usize = 30;

/// Limit for the versions, the computers and the operating systems of a [`FoundGroup`].
pub const TALLIES: u64 = 100;

const DAY: Duration = Duration::from_hours(24);

/// Attempts of a change when concurrent changes get ahead of it.
const MAX_ATTEMPTS: usize = 5;

/// A group in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGroup {
    /// The name of its organization.
    pub organization: String,
    pub details: CrashGroupDetails,
    /// The number of reports on each of the last [`DAYS`] days, the oldest day first.
    pub daily: Vec<u64>,
}

/// A group with its tallies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundGroup {
    pub listed: ListedGroup,
    /// The [`TALLIES`] most frequent values of each kind.
    pub tallies: Vec<Tally>,
}

/// The groups as an operator sees them (decisions I5, P8).
pub struct CrashGroupService {
    groups: Arc<dyn CrashGroupRepository>,
    organizations: Arc<OrganizationList>,
    clock: Arc<dyn Clock>,
}

impl CrashGroupService {
    #[must_use]
    pub fn new(
        groups: Arc<dyn CrashGroupRepository>,
        organizations: Arc<OrganizationList>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { groups, organizations, clock }
    }

    /// Lists the groups that match, of the named organization or of all that the actor sees.
    ///
    /// # Errors
    /// An organization that the actor doesn't see, or a store failure.
    pub async fn list(
        &self,
        actor: &Actor,
        organization: Option<&str>,
        filter: &GroupFilter,
        sort: GroupSort,
        asked: PageRequest<GroupCursor>,
    ) -> Result<Page<ListedGroup, GroupCursor>, OperatorError> {
        let organization = self.organizations.narrow(actor, organization).await?;
        let rows = self.groups.page(organization, filter, sort, asked.after, asked.rows()).await?;
        let page = asked.page(rows, |row| sort.cursor(&row.group));
        Ok(Page { items: self.listed(page.items).await?, next: page.next })
    }

    /// Finds a group with its tallies.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] also for a group of an organization that the actor doesn't see, or a store failure.
    pub async fn find(&self, actor: &Actor, id: CrashGroupId) -> Result<FoundGroup, OperatorError> {
        let details = self.require(actor, id).await?;
        let tallies = self.groups.tallies(id, TALLIES).await?;
        let listed = self.listed(vec![details]).await?.pop();
        let listed = listed.ok_or_else(|| missing(id))?;
        Ok(FoundGroup { listed, tallies })
    }

    /// Changes the state of a group and writes an audit record (decision P9). Does nothing if the group already has
    /// that state. With `expected`, the group must have one of these versions.
    ///
    /// # Errors
    /// The actor is a viewer; [`OperatorError::NotFound`]; [`OperatorError::Stale`] for another version;
    /// [`OperatorError::Conflict`] if all attempts met concurrent changes; a store failure.
    pub async fn change(
        &self,
        actor: &Actor,
        id: CrashGroupId,
        change: StateChange,
        expected: Option<&[GroupVersion]>,
    ) -> Result<CrashGroup, OperatorError> {
        actor.require_admin()?;
        for _ in 0..MAX_ATTEMPTS {
            let before = self.require(actor, id).await?.group;
            let (version, now) = (before.version(), self.clock.now());
            if expected.is_some_and(|expected| !expected.contains(&version)) {
                return Err(OperatorError::Stale(format!("crash group {id}")));
            }
            let mut after = before.clone();
            after.change(change.clone(), now);
            let values = changed_values(&before, &after);
            if values.is_empty() {
                return Ok(before);
            }
            let scope = Scope::Organization(before.organization);
            let record = actor.record(now, AuditAction::CrashGroupChanged, scope, target(id), values);
            if self.groups.set_state(before.organization, id, change.clone(), &version, now, &record).await? {
                return Ok(self.require(actor, id).await?.group);
            }
        }
        Err(OperatorError::Conflict(format!("crash group {id} changes at the same time; try again")))
    }

    async fn require(&self, actor: &Actor, id: CrashGroupId) -> Result<CrashGroupDetails, OperatorError> {
        let found = self.groups.find(actor.scope.organization(), id).await?;
        found.ok_or_else(|| missing(id))
    }

    /// Adds the names of the organizations and the daily counts.
    async fn listed(&self, groups: Vec<CrashGroupDetails>) -> Result<Vec<ListedGroup>, StoreError> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let names = self.organizations.names().await?;
        let ids: Vec<CrashGroupId> = groups.iter().map(|found| found.group.id).collect();
        let mut days = days_of(&self.groups.daily(&ids, first_day(self.clock.now())).await?);
        let listed = |details: CrashGroupDetails| ListedGroup {
            organization: names.get(&details.group.organization).cloned().unwrap_or_default(),
            daily: days.remove(&details.group.id).unwrap_or_else(|| vec![0; DAYS]),
            details,
        };
        Ok(groups.into_iter().map(listed).collect())
    }
}

fn missing(id: CrashGroupId) -> OperatorError {
    OperatorError::NotFound(target(id))
}

fn target(id: CrashGroupId) -> String {
    format!("crash group {id}")
}

/// The beginning of the first day of the daily counts.
fn first_day(now: Timestamp) -> Timestamp {
    let day = i64::try_from(DAY.as_micros()).unwrap_or(i64::MAX);
    let today = now.as_micros().div_euclid(day);
    let before = i64::try_from(DAYS).unwrap_or(i64::MAX) - 1;
    Timestamp::from_micros((today - before) * day)
}

fn days_of(counts: &[DailyReports]) -> HashMap<CrashGroupId, Vec<u64>> {
    let mut days: HashMap<CrashGroupId, Vec<u64>> = HashMap::new();
    for count in counts {
        let of_group = days.entry(count.group).or_insert_with(|| vec![0; DAYS]);
        // A process whose clock is ahead may have stored a report of a later day.
        if let Some(day) = of_group.get_mut(count.day as usize) {
            *day += count.reports;
        }
    }
    days
}

fn changed_values(before: &CrashGroup, after: &CrashGroup) -> Vec<AuditedValue> {
    let mut values = Vec::new();
    if before.state != after.state {
        values.push(AuditedValue::changed("state", before.state.as_str(), after.state.as_str()));
    }
    if before.resolved_in != after.resolved_in {
        let (before, after) = (before.resolved_in.clone(), after.resolved_in.clone());
        values.push(AuditedValue { member: "resolved_in".to_owned(), before, after });
    }
    values
}
