//! The operator's changes of the fleet in memory.

use super::InMemoryStore;
use super::fleet_state::FleetState;
use crate::caller::OrganizationId;
use crate::fleet::{
    Applied, Computer, Device, Fleet, FleetOrganization, FleetRegistry, Job, KeyRevocation, NewKey, Preview, Queue,
    RegistryError, User,
};
use crate::guid::ComputerGuid;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::collections::BTreeSet;

#[async_trait]
impl FleetRegistry for InMemoryStore {
    async fn apply(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Applied, RegistryError> {
        let mut state = self.working()?;
        let before = state.fleet.clone();
        let applied = state.fleet.apply(fleet, new_keys, now);
        let applied = applied.inspect_err(|_| state.fleet = before.clone())?;
        if let Some(author) = &self.author {
            let records = author.applied(fleet, &previewed(&before, &state.fleet, fleet, applied.clone()));
            for record in records {
                state.record(record);
            }
        }
        Ok(applied)
    }

    async fn preview(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Preview, RegistryError> {
        let before = self.working()?.fleet.clone();
        let mut after = before.clone();
        let applied = after.apply(fleet, new_keys, now)?;
        Ok(previewed(&before, &after, fleet, applied))
    }

    async fn export(&self, organization: Option<String>) -> Result<Fleet, RegistryError> {
        let state = self.working()?;
        let ids = match organization {
            Some(name) => vec![state.fleet.find_organization(&name)?],
            None => state.fleet.organizations.keys().copied().collect(),
        };
        let mut organizations: Vec<_> = ids.into_iter().filter_map(|id| exported(&state.fleet, id)).collect();
        organizations.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Fleet { organizations })
    }

    async fn add_key(&self, key: &NewKey, now: Timestamp) -> Result<(), RegistryError> {
        let mut state = self.working()?;
        let id = state.fleet.find_user(&key.organization, &key.user)?;
        state.fleet.register_key(id, key, now)?;
        if let Some(author) = &self.author {
            state.record(author.key_issued(key));
        }
        Ok(())
    }

    async fn revoke_keys(
        &self,
        organization: &str,
        user: &str,
        now: Timestamp,
    ) -> Result<KeyRevocation, RegistryError> {
        let mut state = self.working()?;
        let id = state.fleet.find_user(organization, user)?;
        let own = state.fleet.keys.iter_mut().filter(|key| key.organization == id && key.user == user);
        let revoked = own.filter(|key| key.revoked.is_none()).map(|key| key.revoked = Some(now)).count();
        if let Some(author) = self.author.as_ref().filter(|_| revoked > 0) {
            state.record(author.keys_revoked(organization, user, revoked as u64));
        }
        Ok(KeyRevocation { revoked: revoked as u64 })
    }
}

/// What became of the records that `fleet` names.
fn previewed(before: &FleetState, after: &FleetState, fleet: &Fleet, applied: Applied) -> Preview {
    let exported = |state: &FleetState| {
        let ids = fleet.organizations.iter().filter_map(|named| state.find_organization(&named.name).ok());
        Fleet { organizations: ids.filter_map(|id| exported(state, id)).collect() }
    };
    let hash = |state: &FleetState, guid| state.computers.get(guid).map(|computer| computer.hardware_hash);
    let changed = after.computers.keys().filter(|guid| hash(before, guid) != hash(after, guid));
    let is_old = |guid: &&ComputerGuid| before.computers.contains_key(guid);
    let new_hashes = changed.filter(is_old).copied().collect();
    let names = before.organizations.values().map(|organization| organization.name.clone());
    let is_named = |name: &String| fleet.organizations.iter().any(|named| named.name == *name);
    let others: BTreeSet<String> = names.filter(|name| !is_named(name)).collect();
    let other_organizations = others.into_iter().collect();
    Preview { applied, before: exported(before), after: exported(after), new_hashes, other_organizations }
}

fn exported(fleet: &FleetState, id: OrganizationId) -> Option<FleetOrganization> {
    let organization = fleet.organizations.get(&id)?;
    let user = |name: &String| User { name: name.clone(), mis_key: None };
    let computers = fleet.computers.iter().filter(|(_, computer)| computer.organization == id);
    let computers = computers.map(|(guid, computer)| Computer {
        guid: *guid,
        name: Some(computer.name.clone()),
        hardware_hash: None,
        serial_number: computer.serial_number.clone(),
        user: computer.user.clone(),
    });
    let devices = fleet.devices.iter().filter(|(_, device)| device.organization == id);
    let devices = devices.map(|(guid, device)| Device { guid: *guid, name: Some(device.name.clone()) });
    let queues = fleet.queues.iter().filter(|(_, queue)| queue.organization == id);
    let queues = queues.map(|(guid, queue)| Queue {
        guid: *guid,
        name: Some(queue.name.clone()),
        device: queue.device,
        uses: Some(queue.uses.iter().copied().collect()),
    });
    let jobs = fleet.jobs.iter().filter(|(_, job)| job.organization == id);
    let jobs = jobs.map(|(guid, job)| Job {
        guid: *guid,
        name: Some(job.name.clone()),
        queue: job.queue,
        uses: Some(job.uses.iter().copied().collect()),
    });
    // The maps are sorted by GUID and the sort is stable: what has one name stays in the order of GUIDs.
    Some(FleetOrganization {
        name: organization.name.clone(),
        publisher: Some(organization.publisher),
        users: organization.users.iter().map(user).collect(),
        computers: sorted(computers, |computer| computer.name.clone()),
        devices: sorted(devices, |device| device.name.clone()),
        queues: sorted(queues, |queue| queue.name.clone()),
        jobs: sorted(jobs, |job| job.name.clone()),
        retired: fleet.retired.iter().filter(|(of, _)| *of == id).map(|(_, record)| record.clone()).collect(),
    })
}

fn sorted<T>(records: impl Iterator<Item = T>, name: impl FnMut(&T) -> Option<String>) -> Vec<T> {
    let mut records: Vec<T> = records.collect();
    records.sort_by_key(name);
    records
}
