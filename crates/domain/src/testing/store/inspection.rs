//! What the operator sees of the records in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::device_status::Status;
use crate::error::StoreError;
use crate::inspection::{InspectedDevice, InspectionRepository, RegisteredOrganization};
use async_trait::async_trait;
use futures_util::stream::BoxStream;

#[async_trait]
impl InspectionRepository for InMemoryStore {
    async fn organizations(&self, name: Option<String>) -> Result<Vec<RegisteredOrganization>, StoreError> {
        let state = self.working()?;
        let asked_for = state
            .fleet
            .organizations
            .iter()
            .filter(|(_, organization)| name.as_ref().is_none_or(|name| organization.name == *name));
        let mut found: Vec<RegisteredOrganization> = asked_for
            .map(|(id, organization)| RegisteredOrganization { id: *id, name: organization.name.clone() })
            .collect();
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    fn devices(
        &self,
        organization: OrganizationId,
        statuses: Vec<Status>,
    ) -> BoxStream<'static, Result<InspectedDevice, StoreError>> {
        let read = move |state: &State| {
            let own = state.fleet.devices.iter().filter(|(_, device)| device.organization == organization);
            let mut devices: Vec<InspectedDevice> = own
                .map(|(guid, device)| InspectedDevice {
                    guid: *guid,
                    name: device.name.clone(),
                    status: state.statuses.get(&(organization, *guid)).cloned(),
                })
                .filter(|device| {
                    let is_named = |status| device.status.as_ref().is_some_and(|found| found.status == status);
                    statuses.is_empty() || statuses.iter().copied().any(is_named)
                })
                .collect();
            devices.sort_by(|one, other| (&one.name, one.guid).cmp(&(&other.name, other.guid)));
            devices
        };
        self.stream(read, |device| device)
    }
}
