//! Records as the operator sees them: more than clients see.

use crate::activity::LastRequest;
use crate::caller::OrganizationId;
use crate::crash_report::CrashReport;
use crate::device_status::{DeviceStatus, Status};
use crate::guid::{ComputerGuid, DeviceGuid};
use crate::log_entry::{ListedLogEntry, LogCursor, LogFilter, LogNumber, LogType, Pattern};
use crate::text::Folded;
use crate::timestamp::Timestamp;

/// An organization that is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredOrganization {
    pub id: OrganizationId,
    pub name: String,
}

/// A registered device and its last status.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectedDevice {
    pub guid: DeviceGuid,
    pub name: String,
    /// `None` if it has never sent one.
    pub status: Option<DeviceStatus>,
}

/// The number of devices of an organization with one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCount {
    /// The name of the organization.
    pub organization: String,
    /// `None` for devices that have never sent one.
    pub status: Option<Status>,
    pub devices: u64,
    /// Those of them whose last status is old.
    pub silent: u64,
}

/// A registered computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedComputer {
    pub guid: ComputerGuid,
    /// The GUID if it was registered without a name.
    pub name: String,
    pub serial_number: Option<String>,
    /// The user to whom it is assigned.
    pub user: Option<String>,
    pub is_retired: bool,
    /// Its last admitted request (decision I8).
    pub last_request: Option<LastRequest>,
    /// The newest log entry that it sent under its present name.
    pub last_log_entry: Option<LastSeen>,
    /// The newest crash report that it sent.
    pub last_crash_report: Option<LastSeen>,
}

impl InspectedComputer {
    /// The newest of the last request, log entry and crash report. Data of earlier versions has no requests, but log
    /// entries and crash reports.
    #[must_use]
    pub fn last_seen(&self) -> Option<LastSeen> {
        let request = self.last_request.as_ref();
        let request = request.map(|request| (request.at, &request.application_version));
        let sent = [&self.last_log_entry, &self.last_crash_report].into_iter().flatten();
        let all = sent.map(|seen| (seen.at, &seen.application_version)).chain(request);
        let (at, version) = all.max_by_key(|(at, _)| *at)?;
        Some(LastSeen { at, application_version: version.clone() })
    }
}

/// The time and application version of a record that a computer sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSeen {
    /// Time of receipt.
    pub at: Timestamp,
    pub application_version: String,
}

/// A log entry with what a client's list doesn't tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedLogEntry {
    pub number: LogNumber,
    pub organization: OrganizationId,
    /// Time of receipt.
    pub received: Timestamp,
    pub log_type: LogType,
    pub serial_number: String,
    /// The computer that sent it.
    pub computer: ComputerGuid,
    pub entry: ListedLogEntry,
}

impl InspectedLogEntry {
    /// Where a page that ends with this entry goes on.
    #[must_use]
    pub fn cursor(&self) -> LogCursor {
        LogCursor { received: self.received, number: self.number }
    }

    /// Whether it fits every condition of a filter.
    #[must_use]
    pub fn matches(&self, filter: &LogFilter) -> bool {
        let text = |pattern: &Option<Pattern>, value: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(&Folded::of(value)))
        };
        let ListedLogEntry { user, source, version, computer, description } = &self.entry;
        filter.from.is_none_or(|from| from <= self.received)
            && filter.to.is_none_or(|to| self.received <= to)
            && filter.log_type.is_none_or(|log_type| log_type == self.log_type)
            && filter.computer_guid.is_none_or(|computer| computer == self.computer)
            && text(&filter.serial_number, &self.serial_number)
            && text(&filter.user, user)
            && text(&filter.source, source)
            && text(&filter.version, version)
            && text(&filter.computer, computer)
            && filter.search.as_ref().is_none_or(|search| Folded::of(description).as_str().contains(search.as_str()))
    }
}

/// Conditions of a list of crash reports; a report must meet all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrashReportFilter {
    /// Time of receipt, inclusive.
    pub from: Option<Timestamp>,
    /// Time of receipt, inclusive.
    pub to: Option<Timestamp>,
    pub computer: Option<ComputerGuid>,
}

/// A crash report without its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedCrashReport {
    pub organization: OrganizationId,
    pub report: CrashReport<PartsTotal>,
}

/// The number and size of the parts of a crash report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartsTotal {
    pub count: u64,
    /// Bytes of all of them.
    pub size: u64,
}
