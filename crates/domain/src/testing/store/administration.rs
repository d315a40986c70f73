//! Renaming, retiring and the keys of users in memory.

use super::InMemoryStore;
use super::fleet_state::{FleetState, removed, user_record};
use crate::access::CredentialDigest;
use crate::error::StoreError;
use crate::fleet::{
    FleetConflict, FleetRecord, KeyFilter, KeyId, KeyRegistry, RecordRegistry, RegisteredKey, RegistryError,
};
use crate::timestamp::Timestamp;
use async_trait::async_trait;

#[async_trait]
impl RecordRegistry for InMemoryStore {
    async fn rename_organization(&self, name: &str, new_name: &str) -> Result<(), RegistryError> {
        let mut state = self.working()?;
        let fleet = &mut state.fleet;
        let id = fleet.find_organization(name)?;
        if fleet.find_organization(new_name).is_ok_and(|other| other != id) {
            let [record, other] = [name, new_name].map(|name| format!("organization \"{name}\""));
            return Err(FleetConflict::NameTaken { record, other }.into());
        }
        if let Some(organization) = fleet.organizations.get_mut(&id) {
            new_name.clone_into(&mut organization.name);
        }
        if let Some(author) = self.author.as_ref().filter(|_| name != new_name) {
            state.record(author.organization_renamed(name, new_name));
        }
        Ok(())
    }

    async fn rename_user(&self, organization: &str, name: &str, new_name: &str) -> Result<(), RegistryError> {
        let mut state = self.working()?;
        let fleet = &mut state.fleet;
        let id = fleet.find_user(organization, name)?;
        if name == new_name {
            return Ok(());
        }
        if fleet.find_user(organization, new_name).is_ok() {
            let is_retired = fleet.is_retired(id, FleetRecord::User(new_name.to_owned()));
            let [record, other] = [name, new_name].map(|name| user_record(organization, name));
            let other = format!("{other}{}", removed(is_retired));
            return Err(FleetConflict::NameTaken { record, other }.into());
        }
        if let Some(organization) = fleet.organizations.get_mut(&id) {
            organization.users.remove(name);
            organization.users.insert(new_name.to_owned());
        }
        for key in fleet.keys.iter_mut().filter(|key| key.organization == id && key.user == name) {
            new_name.clone_into(&mut key.user);
        }
        for computer in fleet.computers.values_mut().filter(|computer| computer.organization == id) {
            if computer.user.as_deref() == Some(name) {
                computer.user = Some(new_name.to_owned());
            }
        }
        if fleet.retired.remove(&(id, FleetRecord::User(name.to_owned()))) {
            fleet.retired.insert((id, FleetRecord::User(new_name.to_owned())));
        }
        if let Some(author) = &self.author {
            state.record(author.user_renamed(organization, name, new_name));
        }
        Ok(())
    }

    async fn set_retired(
        &self,
        organization: &str,
        record: &FleetRecord,
        retired: Option<Timestamp>,
    ) -> Result<bool, RegistryError> {
        let mut state = self.working()?;
        let fleet = &mut state.fleet;
        let id = fleet.find_organization(organization)?;
        if !fleet.has(id, record) {
            return Err(FleetConflict::NotFound { record: format!("{record} of \"{organization}\"") }.into());
        }
        let key = (id, record.clone());
        let is_changed = if retired.is_some() { fleet.retired.insert(key) } else { fleet.retired.remove(&key) };
        if let Some(author) = self.author.as_ref().filter(|_| is_changed) {
            state.record(author.retired(organization, record, retired.is_some()));
        }
        Ok(is_changed)
    }
}

#[async_trait]
impl KeyRegistry for InMemoryStore {
    async fn list(&self, filter: KeyFilter) -> Result<Vec<RegisteredKey>, RegistryError> {
        let state = self.working()?;
        let fleet = &state.fleet;
        let KeyFilter { organization, user, id } = filter;
        let only = organization.map(|name| fleet.find_organization(&name)).transpose()?;
        let keys = fleet.keys.iter().filter(|key| only.is_none_or(|only| key.organization == only));
        let keys = keys.filter(|key| user.as_ref().is_none_or(|user| key.user == *user));
        let keys = keys.filter(|key| id.as_ref().is_none_or(|id| id.fits(KeyId::of(&key.digest))));
        let mut keys: Vec<RegisteredKey> = keys.map(|key| registered(fleet, key)).collect();
        keys.sort_by(|one, other| {
            let order = |key: &RegisteredKey| (key.organization.clone(), key.user.clone(), key.issued, key.id);
            order(one).cmp(&order(other))
        });
        Ok(keys)
    }

    async fn revoke(&self, id: KeyId, now: Timestamp) -> Result<bool, RegistryError> {
        let mut state = self.working()?;
        let fleet = &mut state.fleet;
        let found = fleet.keys.iter_mut().find(|key| KeyId::of(&key.digest) == id);
        let Some(key) = found else {
            return Err(FleetConflict::NotFound { record: format!("key {id}") }.into());
        };
        let is_valid = key.revoked.is_none();
        key.revoked.get_or_insert(now);
        let (organization, user) = (key.organization, key.user.clone());
        if let Some(author) = self.author.as_ref().filter(|_| is_valid) {
            let organization = fleet.organization_name(organization);
            state.record(author.key_revoked(id, &organization, &user));
        }
        Ok(is_valid)
    }

    async fn note_uses(&self, uses: &[(CredentialDigest, Timestamp)]) -> Result<(), StoreError> {
        let mut state = self.working()?;
        let fleet = &mut state.fleet;
        for (digest, when) in uses {
            for key in fleet.keys.iter_mut().filter(|key| key.digest == *digest) {
                key.last_used = key.last_used.max(Some(*when));
            }
        }
        Ok(())
    }
}

fn registered(fleet: &FleetState, key: &super::fleet_state::RegisteredKey) -> RegisteredKey {
    RegisteredKey {
        id: KeyId::of(&key.digest),
        organization: fleet.organization_name(key.organization),
        user: key.user.clone(),
        is_user_retired: fleet.is_retired(key.organization, FleetRecord::User(key.user.clone())),
        issued: key.issued,
        last_used: key.last_used,
        revoked: key.revoked,
    }
}
