//! Refusals in memory.

use super::InMemoryStore;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::guid::ComputerGuid;
use crate::refusal::{
    KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, ReasonCount, RefusalCursor, RefusalFilter, RefusalRepository,
    Refused, RefusedComputer,
};
use crate::text::Folded;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The refusals that are kept, with their numbers, in the order of both.
#[derive(Default)]
pub(super) struct Refusals {
    next: i64,
    kept: Vec<(i64, NewRefusal)>,
}

impl Refusals {
    pub(super) fn of_computer(&self, computer: ComputerGuid) -> impl Iterator<Item = &(i64, NewRefusal)> {
        self.kept.iter().filter(move |(_, refusal)| refusal.computer == Some(computer))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &NewRefusal> {
        self.kept.iter().map(|(_, refusal)| refusal)
    }

    /// The newest first.
    pub(super) fn of_request(&self, id: &str) -> impl Iterator<Item = &NewRefusal> {
        self.kept.iter().rev().map(|(_, refusal)| refusal).filter(move |refusal| refusal.request_id == id)
    }

    fn keep_newest(&mut self, bound: u64, belongs: impl Fn(&Owner) -> bool) {
        let count = self.kept.iter().filter(|(_, refusal)| belongs(&refusal.owner)).count() as u64;
        let mut excess = count.saturating_sub(bound);
        self.kept.retain(|(_, refusal)| {
            let goes = excess > 0 && belongs(&refusal.owner);
            excess -= u64::from(goes);
            !goes
        });
    }
}

#[async_trait]
impl RefusalRepository for InMemoryStore {
    async fn add(&self, refusals: &[NewRefusal]) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for refusal in refusals {
            state.refusals.next += 1;
            let number = state.refusals.next;
            state.refusals.kept.push((number, refusal.clone()));
        }
        for refusal in refusals {
            state.refusals.keep_newest(KEPT_PER_OWNER, |owner| *owner == refusal.owner);
        }
        state.refusals.keep_newest(KEPT_OF_UNKNOWN, |owner| matches!(owner, Owner::Address(_)));
        Ok(())
    }

    async fn prune(&self, before: Timestamp, limit: u64) -> Result<u64, StoreError> {
        let mut state = self.working()?;
        let mut old: Vec<(Timestamp, i64)> = state
            .refusals
            .kept
            .iter()
            .map(|(number, refusal)| (refusal.at, *number))
            .filter(|(at, _)| *at < before)
            .collect();
        old.sort_unstable();
        old.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        state.refusals.kept.retain(|(number, _)| !old.iter().any(|(_, gone)| gone == number));
        Ok(old.len() as u64)
    }

    async fn page(
        &self,
        filter: &RefusalFilter,
        after: Option<RefusalCursor>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let state = self.working()?;
        let refused = state.refusals.kept.iter().map(|(number, refusal)| Refused {
            number: *number,
            organization: organization_of(refusal)
                .and_then(|id| state.fleet.organizations.get(&id))
                .map(|registered| registered.name.clone()),
            refusal: refusal.clone(),
        });
        let mut fitting: Vec<Refused> = refused
            .filter(|refused| {
                let refusal = &refused.refusal;
                filter.organization.is_none_or(|asked| organization_of(refusal) == Some(asked))
                    && filter.reason.as_ref().is_none_or(|reason| refusal.reason == *reason)
                    && filter.computer.is_none_or(|computer| refusal.computer == Some(computer))
                    && filter.since.is_none_or(|since| refusal.at >= since)
                    && after.is_none_or(|after| refused.cursor() < after)
            })
            .collect();
        fitting.sort_by_key(|refused| Reverse((refused.refusal.at, refused.number)));
        fitting.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(fitting)
    }

    async fn count(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonCount>, StoreError> {
        let state = self.working()?;
        let mut counts: BTreeMap<&str, ReasonCount> = BTreeMap::new();
        for (_, refusal) in &state.refusals.kept {
            let is_own = organization.is_none_or(|asked| organization_of(refusal) == Some(asked));
            if is_own && refusal.at >= since {
                let none = || ReasonCount { reason: refusal.reason.clone(), count: 0, last: refusal.at };
                let counted = counts.entry(&refusal.reason).or_insert_with(none);
                counted.count += 1;
                counted.last = counted.last.max(refusal.at);
            }
        }
        let mut counts: Vec<ReasonCount> = counts.into_values().collect();
        counts.sort_by_key(|counted| Reverse(counted.count));
        Ok(counts)
    }

    async fn computers(
        &self,
        guids: &[ComputerGuid],
        serial_numbers: &[Folded],
    ) -> Result<Vec<RefusedComputer>, StoreError> {
        let fleet = &self.working()?.fleet;
        let all = fleet.computers.iter().map(|(guid, computer)| RefusedComputer {
            guid: *guid,
            organization: computer.organization,
            organization_name: fleet.organization_name(computer.organization),
            name: computer.name.clone(),
            serial_number: computer.serial_number.as_deref().map(Folded::of),
            is_retired: fleet.is_retired(computer.organization, FleetRecord::Computer(*guid)),
        });
        let is_asked_for = |computer: &RefusedComputer| {
            let has_number = |number: &Folded| serial_numbers.contains(number);
            guids.contains(&computer.guid) || computer.serial_number.as_ref().is_some_and(has_number)
        };
        Ok(all.filter(is_asked_for).collect())
    }
}

/// The caller's organization, or that of the computer that was named.
fn organization_of(refusal: &NewRefusal) -> Option<OrganizationId> {
    match refusal.owner {
        Owner::Organization(id) => Some(id),
        Owner::Address(_) => refusal.named,
    }
}
