//! The use case of device statuses.

#[cfg(test)]
mod tests;

use super::{DeviceStatusRepository, UpdateDeviceStatus};
use crate::caller::Caller;
use crate::clock::Clock;
use crate::detail::quoted;
use crate::error::{Outcome, Reason};
use crate::fleet::FleetDirectory;
use crate::guid::DeviceGuid;
use std::sync::Arc;

/// The use case of interface 4.10.
pub struct DeviceStatusService {
    statuses: Arc<dyn DeviceStatusRepository>,
    fleet: Arc<dyn FleetDirectory>,
    clock: Arc<dyn Clock>,
}

impl DeviceStatusService {
    #[must_use]
    pub fn new(
        statuses: Arc<dyn DeviceStatusRepository>,
        fleet: Arc<dyn FleetDirectory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { statuses, fleet, clock }
    }

    /// Replaces the last status of a device of the caller's organization (decisions D1–D6).
    pub async fn update(&self, caller: &Caller, command: UpdateDeviceStatus) -> Outcome<()> {
        let received = self.clock.now();
        let UpdateDeviceStatus { device, values } = command;
        let not_found = || Reason::DeviceNotFound.because(format!("DeviceGUID {} is not registered", quoted(&device)));
        let guid = DeviceGuid::parse(&device).ok_or_else(not_found)?;
        self.fleet.find_device(caller.organization, guid).await?.ok_or_else(not_found)?;
        let status = values?.into_status(guid, received);
        Ok(self.statuses.put(caller.organization, status).await?)
    }
}
