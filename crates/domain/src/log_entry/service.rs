//! The use cases of log entries.

#[cfg(test)]
mod tests;

use super::command::Submission;
use super::{ListedLogEntry, LogFilter, LogRepository, NewLogEntry};
use crate::caller::Caller;
use crate::clock::Clock;
use crate::detail::quoted;
use crate::error::{Outcome, Reason, StoreError};
use crate::fleet::FleetDirectory;
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use crate::json::Json;
use futures_util::stream::BoxStream;
use std::sync::Arc;

/// The use cases of interface 4.7 and 4.9.
pub struct LogService {
    logs: Arc<dyn LogRepository>,
    fleet: Arc<dyn FleetDirectory>,
    clock: Arc<dyn Clock>,
}

impl LogService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(logs: Arc<dyn LogRepository>, fleet: Arc<dyn FleetDirectory>, clock: Arc<dyn Clock>) -> Self {
        Self { logs, fleet, clock }
    }

    /// Takes a log entry in (interface 4.7). The records that it names are looked up in the order
    /// computer, device, queue, job; the first unknown one answers (decision L2).
    pub async fn add(&self, caller: &Caller, body: &Json) -> Outcome<()> {
        let received = self.clock.now();
        let sent = Submission::read(body)?;
        let organization = caller.organization;

        let unknown = |reason: Reason, name: &str, text: &str| {
            reason.because(format!("{name} {} is not registered", quoted(text)))
        };
        let not_found = || unknown(Reason::ComputerNotFound, "ComputerGUID", &sent.computer);
        let computer_guid = ComputerGuid::parse(&sent.computer).ok_or_else(not_found)?;
        let computer = self.fleet.find_computer(organization, computer_guid).await?.ok_or_else(not_found)?;

        /// Looks an optional reference up: its GUID and the name of its record.
        macro_rules! look_up {
            ($text:expr, $guid:ident, $find:ident, $reason:expr, $name:expr) => {
                match &$text {
                    None => (None, None),
                    Some(text) => {
                        let not_found = || unknown($reason, $name, text);
                        let guid = $guid::parse(text).ok_or_else(not_found)?;
                        let name = self.fleet.$find(organization, guid).await?.ok_or_else(not_found)?;
                        (Some(guid), Some(name))
                    }
                }
            };
        }
        let (device_guid, device) =
            look_up!(sent.device, DeviceGuid, find_device, Reason::DeviceNotFound, "DeviceGUID");
        let (queue_guid, queue) = look_up!(sent.queue, QueueGuid, find_queue, Reason::QueueNotFound, "QueueGUID");
        let (job_guid, job) = look_up!(sent.job, JobGuid, find_job, Reason::JobNotFound, "JobGUID");

        let entry = NewLogEntry {
            received,
            log_type: sent.log_type,
            description: sent.description,
            user: caller.user_name().to_owned(),
            source: device.or(queue).or_else(|| sent.job_name.clone()).or(job).unwrap_or_default(),
            version: sent.rip_version.unwrap_or_else(|| caller.application_version.clone()),
            computer,
            serial_number: caller.serial_number.clone(),
            computer_guid,
            device_guid,
            queue_guid,
            job_guid,
            job_name: sent.job_name,
            application_version: caller.application_version.clone(),
        };
        Ok(self.logs.add(organization, entry).await?)
    }

    /// The organization's entries that match the filters in `body` (interface 4.9).
    pub fn list(
        &self,
        caller: &Caller,
        body: &Json,
    ) -> Outcome<BoxStream<'static, Result<ListedLogEntry, StoreError>>> {
        Ok(self.logs.list(caller.organization, LogFilter::read(body)?))
    }
}
