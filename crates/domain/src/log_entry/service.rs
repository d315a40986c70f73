//! The use cases of log entries: add and list.

#[cfg(test)]
mod tests;

use super::{AddLog, ListedLogEntry, LogFilter, LogRepository, NewLogEntry};
use crate::caller::Caller;
use crate::clock::Clock;
use crate::detail::quoted;
use crate::error::{Outcome, Reason, StoreError};
use crate::fleet::FleetDirectory;
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use futures_util::stream::BoxStream;
use std::sync::Arc;

/// The use cases of interface 4.7 and 4.9.
pub struct LogService {
    logs: Arc<dyn LogRepository>,
    fleet: Arc<dyn FleetDirectory>,
    clock: Arc<dyn Clock>,
}

impl LogService {
    #[must_use]
    pub fn new(logs: Arc<dyn LogRepository>, fleet: Arc<dyn FleetDirectory>, clock: Arc<dyn Clock>) -> Self {
        Self { logs, fleet, clock }
    }

    /// Adds a log entry (interface 4.7). The records that it names are looked up in the order computer, device, queue,
    /// job; the first unknown one is the refusal (decision L2).
    pub async fn add(&self, caller: &Caller, command: AddLog) -> Outcome<()> {
        let received = self.clock.now();
        let (organization, fleet) = (caller.organization, &self.fleet);

        let AddLog { computer, device, queue, job, log_type, description, rip_version, job_name } = command;
        let (computer_guid, computer) =
            look_up(&computer, "ComputerGUID", Reason::ComputerNotFound, ComputerGuid::parse, |guid| {
                fleet.find_computer(organization, guid)
            })
            .await?;
        let (device_guid, device) =
            look_up_optional(device, "DeviceGUID", Reason::DeviceNotFound, DeviceGuid::parse, |guid| {
                fleet.find_device(organization, guid)
            })
            .await?;
        let (queue_guid, queue) =
            look_up_optional(queue, "QueueGUID", Reason::QueueNotFound, QueueGuid::parse, |guid| {
                fleet.find_queue(organization, guid)
            })
            .await?;
        let (job_guid, job) = look_up_optional(job, "JobGUID", Reason::JobNotFound, JobGuid::parse, |guid| {
            fleet.find_job(organization, guid)
        })
        .await?;
        let entry = NewLogEntry {
            received,
            log_type,
            description,
            user: caller.user_name().to_owned(),
            source: device.or(queue).or_else(|| job_name.clone()).or(job).unwrap_or_default(),
            version: rip_version.unwrap_or_else(|| caller.application_version.clone()),
            computer,
            serial_number: caller.serial_number.clone(),
            computer_guid,
            device_guid,
            queue_guid,
            job_guid,
            job_name,
            application_version: caller.application_version.clone(),
        };
        Ok(self.logs.add(organization, entry).await?)
    }

    /// The organization's entries that match the filter (interface 4.9).
    pub fn list(&self, caller: &Caller, filter: LogFilter) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
        self.logs.list(caller.organization, filter)
    }
}

/// The GUID that `text` spells, and the name of its record. A malformed GUID is not found (decision R7).
async fn look_up<Guid: Copy, Found: Future<Output = Result<Option<String>, StoreError>>>(
    text: &str,
    member: &str,
    not_found: Reason,
    parse: fn(&str) -> Option<Guid>,
    find: impl FnOnce(Guid) -> Found,
) -> Outcome<(Guid, String)> {
    let not_found = || not_found.because(format!("{member} {} is not registered", quoted(text)));
    let guid = parse(text).ok_or_else(not_found)?;
    let name = find(guid).await?.ok_or_else(not_found)?;
    Ok((guid, name))
}

async fn look_up_optional<Guid: Copy, Found: Future<Output = Result<Option<String>, StoreError>>>(
    text: Option<String>,
    member: &str,
    not_found: Reason,
    parse: fn(&str) -> Option<Guid>,
    find: impl FnOnce(Guid) -> Found,
) -> Outcome<(Option<Guid>, Option<String>)> {
    match text {
        None => Ok((None, None)),
        Some(text) => Ok(Some(look_up(&text, member, not_found, parse, find).await?).unzip()),
    }
}
