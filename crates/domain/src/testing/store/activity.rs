//! Last requests and fetches in memory.

use super::{InMemoryStore, State};
use crate::activity::{
    ActivityRepository, ComputerFetch, Currency, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey,
    SERIAL_NUMBERS_PER_USER, Sender, UserActivity, UserFetch,
};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::guid::ComputerGuid;
use crate::text::Folded;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use std::collections::BTreeMap;

/// The key of a holder; the SerialNumber is compared without case.
type FetchKey = (Holder, ResourceKey);

#[derive(Default)]
pub(super) struct Activity {
    pub(super) requests: BTreeMap<Sender, LastRequest>,
    /// The key has the SerialNumber folded, the value as sent.
    pub(super) fetches: BTreeMap<FetchKey, (Holder, Fetch)>,
}

fn folded(holder: &Holder) -> Holder {
    match holder {
        Holder::Computer(..) => holder.clone(),
        Holder::User { organization, name, serial_number } => Holder::User {
            organization: *organization,
            name: name.clone(),
            serial_number: Folded::of(serial_number).into_string(),
        },
    }
}

impl Activity {
    /// Keeps the latest fetches of the resource by the user.
    fn remove_excess(&mut self, holder: &Holder, resource: ResourceKey) {
        let Holder::User { organization, name, .. } = holder else { return };
        let is_own = |holder: &Holder| match holder {
            Holder::User { organization: of, name: own, .. } => of == organization && own == name,
            Holder::Computer(..) => false,
        };
        let own = self.fetches.iter().filter(|((holder, of), _)| *of == resource && is_own(holder));
        let mut own: Vec<_> = own.map(|(key, (_, fetch))| (fetch.at, key.clone())).collect();
        own.sort_by(|one, other| other.cmp(one));
        for (_, key) in own.into_iter().skip(SERIAL_NUMBERS_PER_USER as usize) {
            self.fetches.remove(&key);
        }
    }
}

#[async_trait]
impl ActivityRepository for InMemoryStore {
    async fn store_requests(&self, requests: &[(Sender, LastRequest)]) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for (sender, request) in requests {
            if let Sender::User(organization, name) = sender
                && !state.fleet.has(*organization, &FleetRecord::User(name.clone()))
            {
                continue;
            }
            let last = state.activity.requests.entry(sender.clone()).or_insert_with(|| request.clone());
            if last.at <= request.at {
                *last = request.clone();
            }
        }
        Ok(())
    }

    async fn store_fetches(&self, fetches: &[((Holder, ResourceKey), Fetch)]) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for ((holder, resource), fetch) in fetches {
            if let Holder::User { organization, name, .. } = holder
                && !state.fleet.has(*organization, &FleetRecord::User(name.clone()))
            {
                continue;
            }
            let new = (holder.clone(), *fetch);
            let last = state.activity.fetches.entry((folded(holder), *resource)).or_insert_with(|| new.clone());
            if last.1.at <= fetch.at {
                *last = new;
            }
            state.activity.remove_excess(holder, *resource);
        }
        Ok(())
    }

    fn users(&self, organization: OrganizationId) -> BoxStream<'static, Result<UserActivity, StoreError>> {
        let read = move |state: &State| {
            let mut names = state.fleet.user_names(organization);
            names.sort();
            let user = |name: String| UserActivity {
                last_request: state.activity.requests.get(&Sender::User(organization, name.clone())).cloned(),
                name,
            };
            names.into_iter().map(user).collect()
        };
        self.stream(read, |user| user)
    }

    fn computers_of_resource(
        &self,
        organization: OrganizationId,
        resource: ResourceKey,
    ) -> BoxStream<'static, Result<ComputerFetch, StoreError>> {
        let read = move |state: &State| {
            let own = state.fleet.computers.iter().filter(|(guid, computer)| {
                computer.organization == organization
                    && !state.fleet.is_retired(organization, FleetRecord::Computer(**guid))
            });
            let fetched = |guid| {
                let found = state.activity.fetches.get(&(Holder::Computer(organization, guid), resource));
                found.map(|(_, fetch)| *fetch)
            };
            let mut all: Vec<_> = own
                .map(|(guid, computer)| ComputerFetch {
                    guid: *guid,
                    name: computer.name.clone(),
                    fetch: fetched(*guid),
                })
                .collect();
            all.sort_by(|one, other| (&one.name, one.guid).cmp(&(&other.name, other.guid)));
            all
        };
        self.stream(read, |found| found)
    }

    fn users_of_resource(
        &self,
        organization: OrganizationId,
        resource: ResourceKey,
    ) -> BoxStream<'static, Result<UserFetch, StoreError>> {
        let read = move |state: &State| {
            let all = state.activity.fetches.iter().filter(|((_, of), _)| *of == resource);
            let user = |(_, (holder, fetch)): (&FetchKey, &(Holder, Fetch))| match holder {
                Holder::User { organization: owner, name, serial_number } if *owner == organization => {
                    Some(UserFetch { name: name.clone(), serial_number: serial_number.clone(), fetch: *fetch })
                }
                _ => None,
            };
            all.filter_map(user).collect()
        };
        self.stream(read, |found| found)
    }

    fn outdated_resources(
        &self,
        organization: OrganizationId,
        computer: ComputerGuid,
    ) -> BoxStream<'static, Result<OutdatedResource, StoreError>> {
        let read = move |state: &State| {
            let own = state.activity.fetches.iter();
            let own = own.filter(|((holder, _), _)| *holder == Holder::Computer(organization, computer));
            let outdated = |((_, resource), (_, fetch)): (&FetchKey, &(Holder, Fetch))| {
                let stored = state.visible_resource(organization, *resource)?;
                let is_outdated = Currency::of(Some(*fetch), stored.checksum) == Currency::Outdated;
                is_outdated.then(|| OutdatedResource {
                    resource: *resource,
                    name: stored.meta.name.clone(),
                    fetch: *fetch,
                    checksum: stored.checksum,
                    modified: stored.modified,
                })
            };
            own.filter_map(outdated).collect()
        };
        self.stream(read, |found| found)
    }
}
