//! Look-ups of credentials and records in memory.

use super::InMemoryStore;
use super::fleet_state::RegisteredKey;
use crate::access::{CredentialDigest, CredentialDirectory, KeyHolder, RegisteredComputer};
use crate::caller::{CallingComputer, OrganizationId};
use crate::error::StoreError;
use crate::fleet::{FleetDirectory, FleetRecord};
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use crate::text::Folded;
use async_trait::async_trait;

#[async_trait]
impl CredentialDirectory for InMemoryStore {
    async fn find_key_holder(&self, mis_key: CredentialDigest) -> Result<Option<KeyHolder>, StoreError> {
        let state = self.working()?;
        let key = state.fleet.keys.iter().find(|key| key.digest == mis_key && key.revoked.is_none());
        let is_retired =
            |key: &&RegisteredKey| state.fleet.is_retired(key.organization, FleetRecord::User(key.user.clone()));
        let key = key.filter(|key| !is_retired(key));
        Ok(key.map(|key| KeyHolder {
            organization: key.organization,
            organization_name: state.fleet.organization_name(key.organization),
            user: key.user.clone(),
        }))
    }

    async fn find_computer(&self, hardware_hash: CredentialDigest) -> Result<Option<RegisteredComputer>, StoreError> {
        let state = self.working()?;
        let found = state.fleet.computers.iter().find(|(_, computer)| computer.hardware_hash == Some(hardware_hash));
        let found = found
            .filter(|(guid, computer)| !state.fleet.is_retired(computer.organization, FleetRecord::Computer(**guid)));
        Ok(found.map(|(guid, computer)| RegisteredComputer {
            organization: computer.organization,
            organization_name: state.fleet.organization_name(computer.organization),
            computer: CallingComputer { guid: *guid, name: computer.name.clone(), user: computer.user.clone() },
            serial_number: Folded::of(computer.serial_number.as_deref().unwrap_or_default()),
        }))
    }
}

#[async_trait]
impl FleetDirectory for InMemoryStore {
    async fn find_computer(
        &self,
        organization: OrganizationId,
        guid: ComputerGuid,
    ) -> Result<Option<String>, StoreError> {
        let state = self.working()?;
        let found = state.fleet.computers.get(&guid).filter(|record| record.organization == organization);
        let found = found.filter(|_| !state.fleet.is_retired(organization, FleetRecord::Computer(guid)));
        Ok(found.map(|record| record.name.clone()))
    }

    async fn find_device(&self, organization: OrganizationId, guid: DeviceGuid) -> Result<Option<String>, StoreError> {
        let state = self.working()?;
        let found = state.fleet.devices.get(&guid).filter(|record| record.organization == organization);
        let found = found.filter(|_| !state.fleet.is_retired(organization, FleetRecord::Device(guid)));
        Ok(found.map(|record| record.name.clone()))
    }

    async fn find_queue(&self, organization: OrganizationId, guid: QueueGuid) -> Result<Option<String>, StoreError> {
        let state = self.working()?;
        let found = state.fleet.queues.get(&guid).filter(|record| record.organization == organization);
        let found = found.filter(|_| !state.fleet.is_retired(organization, FleetRecord::Queue(guid)));
        Ok(found.map(|record| record.name.clone()))
    }

    async fn find_job(&self, organization: OrganizationId, guid: JobGuid) -> Result<Option<String>, StoreError> {
        let state = self.working()?;
        let found = state.fleet.jobs.get(&guid).filter(|record| record.organization == organization);
        let found = found.filter(|_| !state.fleet.is_retired(organization, FleetRecord::Job(guid)));
        Ok(found.map(|record| record.name.clone()))
    }
}
