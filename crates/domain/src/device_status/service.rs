//! The use case of device statuses.

#[cfg(test)]
mod tests;

use super::command::read_device;
use super::{DeviceStatus, DeviceStatusRepository};
use crate::caller::Caller;
use crate::clock::Clock;
use crate::detail::quoted;
use crate::error::{Outcome, Reason};
use crate::fleet::FleetDirectory;
use crate::guid::DeviceGuid;
use crate::json::Json;
use std::sync::Arc;

/// The use case of interface 4.10.
pub struct DeviceStatusService {
    statuses: Arc<dyn DeviceStatusRepository>,
    fleet: Arc<dyn FleetDirectory>,
    clock: Arc<dyn Clock>,
}

impl DeviceStatusService {
    /// Puts the use case over its ports.
    #[must_use]
    pub fn new(
        statuses: Arc<dyn DeviceStatusRepository>,
        fleet: Arc<dyn FleetDirectory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { statuses, fleet, clock }
    }

    /// Replaces the last status of a device of the caller's organization (decisions D1–D6).
    pub async fn update(&self, caller: &Caller, body: &Json) -> Outcome<()> {
        let received = self.clock.now();
        let body = body.unwrapped();
        let device = read_device(body)?;
        let not_found = || Reason::DeviceNotFound.because(format!("DeviceGUID {} is not registered", quoted(&device)));
        let guid = DeviceGuid::parse(&device).ok_or_else(not_found)?;
        self.fleet.find_device(caller.organization, guid).await?.ok_or_else(not_found)?;
        let status = DeviceStatus::read(body, guid, received)?;
        Ok(self.statuses.put(caller.organization, status).await?)
    }
}
