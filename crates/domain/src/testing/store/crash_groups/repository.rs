//! The groups as operators see and change them.

use crate::audit::NewAuditRecord;
use crate::caller::OrganizationId;
use crate::crash_group::{
    CrashGroup, CrashGroupDetails, CrashGroupId, CrashGroupRepository, DailyReports, GroupCursor, GroupFilter,
    GroupSort, GroupVersion, StateChange, Tally, TallyKind,
};
use crate::error::StoreError;
use crate::testing::InMemoryStore;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

#[async_trait]
impl CrashGroupRepository for InMemoryStore {
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &GroupFilter,
        sort: GroupSort,
        after: Option<GroupCursor>,
        limit: u64,
    ) -> Result<Vec<CrashGroupDetails>, StoreError> {
        let state = self.working()?;
        let has_computer = |group: &CrashGroup, computer: &str| {
            state.tally(group.id).iter().any(|tally| tally.kind == TallyKind::Computer && tally.value == computer)
        };
        let fits = |group: &&CrashGroup| {
            organization.is_none_or(|organization| organization == group.organization)
                && filter.state.is_none_or(|state| state == group.state)
                && filter.application_name.as_ref().is_none_or(|name| group.application_name.as_ref() == Some(name))
                && filter
                    .search
                    .as_ref()
                    .is_none_or(|text| group.signature.to_ascii_lowercase().contains(&text.to_ascii_lowercase()))
                && filter.computer.is_none_or(|computer| has_computer(group, &computer.to_string()))
                && after.is_none_or(|after| sort.cursor(group) < after)
        };
        let mut groups: Vec<&CrashGroup> = state.crash_groups.groups.values().filter(fits).collect();
        groups.sort_by_key(|group| Reverse(sort.cursor(group)));
        groups.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(groups.into_iter().map(|group| state.details(group)).collect())
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashGroupId,
    ) -> Result<Option<CrashGroupDetails>, StoreError> {
        let state = self.working()?;
        let group = state.crash_groups.groups.get(&id);
        let group = group.filter(|group| organization.is_none_or(|organization| organization == group.organization));
        Ok(group.map(|group| state.details(group)))
    }

    async fn tallies(&self, id: CrashGroupId, limit: u64) -> Result<Vec<Tally>, StoreError> {
        let mut tallies = self.working()?.tally(id);
        tallies.sort_by(|one, other| {
            (one.kind, Reverse(one.reports), &one.value).cmp(&(other.kind, Reverse(other.reports), &other.value))
        });
        let mut counts: BTreeMap<TallyKind, u64> = BTreeMap::new();
        tallies.retain(|tally| {
            let count = counts.entry(tally.kind).or_default();
            *count += 1;
            *count <= limit
        });
        Ok(tallies)
    }

    async fn daily(&self, ids: &[CrashGroupId], since: Timestamp) -> Result<Vec<DailyReports>, StoreError> {
        let state = self.working()?;
        let mut counts: BTreeMap<(CrashGroupId, u32), u64> = BTreeMap::new();
        for analyzed in state.crash_groups.analyses.values() {
            let group = analyzed.group.filter(|group| ids.contains(group));
            let report = state.report(analyzed.analysis.report).filter(|(_, report)| report.received >= since);
            if let Some((group, (_, report))) = group.zip(report) {
                let day = (report.received.as_micros() - since.as_micros()) / DAY;
                *counts.entry((group, u32::try_from(day).unwrap_or(u32::MAX))).or_default() += 1;
            }
        }
        Ok(counts.into_iter().map(|((group, day), reports)| DailyReports { group, day, reports }).collect())
    }

    async fn set_state(
        &self,
        organization: OrganizationId,
        id: CrashGroupId,
        change: StateChange,
        expected: &GroupVersion,
        now: Timestamp,
        record: &NewAuditRecord,
    ) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let group = state.crash_groups.groups.get_mut(&id);
        let Some(group) = group.filter(|group| group.organization == organization && group.version() == *expected)
        else {
            return Ok(false);
        };
        group.change(change, now);
        state.record(record.clone());
        Ok(true)
    }
}
