//! Devices as operators see them, in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::device_board::{
    BoardDevice, DeviceBoardRepository, DeviceCursor, DeviceFilter, DeviceForecast, DeviceSort, DeviceTally, Moment,
};
use crate::device_status::Reporting;
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::guid::DeviceGuid;
use crate::inspection::RegisteredOrganization;
use crate::page::{Page, PageRequest};
use async_trait::async_trait;

impl InMemoryStore {
    /// The number of a registered organization.
    ///
    /// # Panics
    /// There is none of this name.
    #[must_use]
    pub fn organization_named(&self, name: &str) -> OrganizationId {
        let state = self.lock();
        let found = state.fleet.organizations.iter().find(|(_, organization)| organization.name == name);
        *found.expect("a registered organization").0
    }
}

impl State {
    /// The devices that aren't retired.
    fn board(&self) -> Vec<BoardDevice> {
        let registered = self.fleet.devices.iter();
        let live = registered
            .filter(|(guid, device)| !self.fleet.is_retired(device.organization, FleetRecord::Device(**guid)));
        let shown = live.map(|(guid, device)| {
            let (id, key) = (device.organization, (device.organization, *guid));
            let status = self.statuses.get(&key).cloned();
            let changed = status.as_ref().and_then(|_| self.last_change(id, *guid));
            BoardDevice {
                organization: RegisteredOrganization { id, name: self.fleet.organization_name(id) },
                guid: *guid,
                name: device.name.clone(),
                changed,
                forecast: status.as_ref().and_then(|_| self.forecasts.get(&key).cloned()).unwrap_or_default(),
                status,
            }
        });
        shown.collect()
    }
}

fn fits(device: &BoardDevice, filter: &DeviceFilter, moment: Moment) -> bool {
    let reporting = device.reporting(moment);
    let status = device.status.as_ref().map(|status| status.status);
    filter.organization.is_none_or(|organization| organization == device.organization.id)
        && (filter.statuses.is_empty() || status.is_some_and(|status| filter.statuses.contains(&status)))
        && filter.silent.is_none_or(|silent| silent == (reporting == Reporting::Silent))
        && filter.seen.is_none_or(|seen| seen == (reporting != Reporting::NeverSeen))
        && filter.attention.is_none_or(|attention| attention == device.attention(moment))
        && filter.search.as_ref().is_none_or(|text| device.name.to_lowercase().contains(&text.to_lowercase()))
}

#[async_trait]
impl DeviceBoardRepository for InMemoryStore {
    async fn page(
        &self,
        filter: &DeviceFilter,
        sort: DeviceSort,
        moment: Moment,
        asked: &PageRequest<DeviceCursor>,
    ) -> Result<Page<BoardDevice, DeviceCursor>, StoreError> {
        let mut devices = self.working()?.board();
        devices.retain(|device| fits(device, filter, moment));
        devices.sort_by_key(|device| device.cursor(sort, moment));
        devices.retain(|device| asked.after.as_ref().is_none_or(|after| device.cursor(sort, moment) > *after));
        Ok(asked.page(devices, |device| device.cursor(sort, moment)))
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: DeviceGuid,
    ) -> Result<Option<BoardDevice>, StoreError> {
        let is_meant = |device: &BoardDevice| {
            device.guid == guid && organization.is_none_or(|organization| organization == device.organization.id)
        };
        Ok(self.working()?.board().into_iter().find(is_meant))
    }

    async fn count(
        &self,
        organization: Option<OrganizationId>,
        moment: Moment,
    ) -> Result<Vec<DeviceTally>, StoreError> {
        let mut tallies: Vec<DeviceTally> = Vec::new();
        let filter = DeviceFilter { organization, ..DeviceFilter::default() };
        for device in self.working()?.board().iter().filter(|device| fits(device, &filter, moment)) {
            let (attention, status) = (device.attention(moment), device.status.as_ref().map(|status| status.status));
            match tallies.iter_mut().find(|tally| (tally.attention, tally.status) == (attention, status)) {
                Some(tally) => tally.devices += 1,
                None => tallies.push(DeviceTally { attention, status, devices: 1 }),
            }
        }
        Ok(tallies)
    }

    async fn devices_to_forecast(
        &self,
        after: Option<DeviceGuid>,
        limit: u64,
    ) -> Result<Vec<(OrganizationId, DeviceGuid)>, StoreError> {
        let mut devices = self.working()?.board();
        devices.retain(|device| device.status.is_some() && after.is_none_or(|after| device.guid > after));
        devices.sort_by_key(|device| device.guid);
        devices.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(devices.into_iter().map(|device| (device.organization.id, device.guid)).collect())
    }

    async fn store_forecasts(&self, forecasts: &[DeviceForecast]) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for forecast in forecasts {
            let key = (forecast.organization, forecast.device);
            if state.statuses.contains_key(&key) {
                state.forecasts.insert(key, forecast.inks.clone());
            }
        }
        Ok(())
    }
}
