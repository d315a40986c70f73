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
        let mut changed = state.fleet.clone();
        let applied = changed.apply(fleet, new_keys, now)?;
        state.fleet = changed;
        Ok(applied)
    }

    async fn preview(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Preview, RegistryError> {
        let before = self.working()?.fleet.clone();
        let mut after = before.clone();
        let applied = after.apply(fleet, new_keys, now)?;
        let exported = |state: &FleetState| {
            let ids = fleet.organizations.iter().filter_map(|named| state.find_organization(&named.name).ok());
            Fleet { organizations: ids.filter_map(|id| exported(state, id)).collect() }
        };
        let hash = |state: &FleetState, guid| state.computers.get(guid).map(|computer| computer.hardware_hash);
        let changed = after.computers.keys().filter(|guid| hash(&before, guid) != hash(&after, guid));
        let is_old = |guid: &&ComputerGuid| before.computers.contains_key(guid);
        let new_hashes = changed.filter(is_old).copied().collect();
        let names = before.organizations.values().map(|organization| organization.name.clone());
        let is_named = |name: &String| fleet.organizations.iter().any(|named| named.name == *name);
        let others: BTreeSet<String> = names.filter(|name| !is_named(name)).collect();
        let other_organizations = others.into_iter().collect();
        Ok(Preview { applied, before: exported(&before), after: exported(&after), new_hashes, other_organizations })
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
        Ok(state.fleet.register_key(id, key, now)?)
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
        Ok(KeyRevocation { revoked: revoked as u64 })
    }
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
