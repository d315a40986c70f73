//! Records as the operator sees them, beside what clients see of them.

use crate::caller::OrganizationId;
use crate::device_status::DeviceStatus;
use crate::guid::{ComputerGuid, CrashReportId, DeviceGuid};
use crate::log_entry::{ListedLogEntry, LogType};
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

/// A log entry with what a client's list doesn't tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedLogEntry {
    pub organization: OrganizationId,
    /// Time of receipt.
    pub received: Timestamp,
    pub log_type: LogType,
    pub serial_number: String,
    pub entry: ListedLogEntry,
}

/// Which crash reports to list: all that fit every condition.
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
    pub id: CrashReportId,
    pub received: Timestamp,
    /// The header ApplicationName as sent (decision C3).
    pub application_name: Option<String>,
    /// The header OS as sent (decision C3).
    pub os: Option<String>,
    pub user: Option<String>,
    pub computer: Option<ComputerGuid>,
    pub serial_number: String,
    pub application_version: String,
    /// What was dropped, and why (decision C6).
    pub note: Option<String>,
    /// How many parts it has.
    pub parts: u64,
    /// Bytes of all of them.
    pub size: u64,
}
