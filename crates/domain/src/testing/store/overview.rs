//! The figures of the first page in memory.

use super::InMemoryStore;
use crate::activity::Holder;
use crate::caller::OrganizationId;
use crate::crash_group::{CrashGroup, GroupState};
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::overview::{HourFigure, OverviewRepository, ReasonFigure, UnsettledGroups};
use crate::refusal::{NewRefusal, Owner};
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

const HOUR: i64 = 3_600_000_000;

#[async_trait]
impl OverviewRepository for InMemoryStore {
    async fn unsettled_groups(
        &self,
        organization: Option<OrganizationId>,
        limit: u64,
    ) -> Result<UnsettledGroups, StoreError> {
        let state = self.working()?;
        let mut groups: Vec<CrashGroup> = state.crash_groups.with_reports().cloned().collect();
        groups.retain(|group| organization.is_none_or(|organization| organization == group.organization));
        let count = |state| groups.iter().filter(|group| group.state == state).count() as u64;
        let (new, regressed) = (count(GroupState::New), count(GroupState::Regressed));
        groups.retain(|group| matches!(group.state, GroupState::New | GroupState::Regressed));
        groups.sort_by_key(|group| Reverse((group.last_seen, group.id)));
        groups.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(UnsettledGroups { new, regressed, first: groups })
    }

    async fn refusals_by_reason(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonFigure>, StoreError> {
        let is_of = |refusal: &NewRefusal, organization| match refusal.owner {
            Owner::Organization(owner) => owner == organization,
            Owner::Address(_) => refusal.named == Some(organization),
        };
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for refusal in self.working()?.refusals.all() {
            if refusal.at >= since && organization.is_none_or(|organization| is_of(refusal, organization)) {
                *counts.entry(refusal.reason.clone()).or_default() += 1;
            }
        }
        let figure = |(reason, refusals)| ReasonFigure { reason, refusals };
        let mut figures: Vec<ReasonFigure> = counts.into_iter().map(figure).collect();
        figures.sort_by_key(|figure| Reverse(figure.refusals));
        Ok(figures)
    }

    async fn log_entries_by_hour(
        &self,
        organization: Option<OrganizationId>,
        now: Timestamp,
        hours: u32,
    ) -> Result<Vec<HourFigure>, StoreError> {
        let state = self.working()?;
        let last = now.as_micros().div_euclid(HOUR);
        let received = |hour: i64| {
            let own = state.logs.iter().filter(|(owner, _)| organization.is_none_or(|asked| asked == *owner));
            own.filter(|(_, entry)| entry.received.as_micros().div_euclid(HOUR) == hour).count() as u64
        };
        let hours = (last + 1 - i64::from(hours))..=last;
        let figure = |hour| HourFigure { from: Timestamp::from_micros(hour * HOUR), entries: received(hour) };
        Ok(hours.map(figure).collect())
    }

    async fn outdated_resources(&self, organization: Option<OrganizationId>) -> Result<u64, StoreError> {
        let state = self.working()?;
        let is_counted = |holder: &Holder| match holder {
            Holder::Computer(owner, guid) => {
                organization.is_none_or(|asked| asked == *owner)
                    && state.fleet.computers.contains_key(guid)
                    && !state.fleet.is_retired(*owner, FleetRecord::Computer(*guid))
            }
            Holder::User { .. } => false,
        };
        let all = state.activity.fetches.iter().filter(|((holder, _), _)| is_counted(holder));
        let outdated = all.filter(|((holder, resource), (_, fetch))| {
            let stored = state.visible_resource(holder.organization(), *resource);
            stored.is_some_and(|stored| stored.checksum != fetch.checksum)
        });
        Ok(outdated.map(|((_, resource), _)| (resource.organization, resource.guid)).collect::<BTreeSet<_>>().len()
            as u64)
    }
}
