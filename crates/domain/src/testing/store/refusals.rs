//! Refusals in memory.

use super::InMemoryStore;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::refusal::{KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, RefusalFilter, RefusalRepository, Refused};
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::cmp::Reverse;

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
        after: Option<(Timestamp, i64)>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let state = self.working()?;
        let refused = state.refusals.kept.iter().map(|(number, refusal)| Refused {
            number: *number,
            organization: match refusal.owner {
                Owner::Organization(id) => Some(id),
                Owner::Address(_) => refusal.named,
            }
            .and_then(|id| state.fleet.organizations.get(&id))
            .map(|registered| registered.name.clone()),
            refusal: refusal.clone(),
        });
        let mut fitting: Vec<Refused> = refused
            .filter(|refused| {
                let refusal = &refused.refusal;
                filter.organization.as_ref().is_none_or(|name| refused.organization.as_ref() == Some(name))
                    && filter.computer.is_none_or(|computer| refusal.computer == Some(computer))
                    && filter.since.is_none_or(|since| refusal.at >= since)
                    && after.is_none_or(|after| (refusal.at, refused.number) < after)
            })
            .collect();
        fitting.sort_by_key(|refused| Reverse((refused.refusal.at, refused.number)));
        fitting.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(fitting)
    }
}
