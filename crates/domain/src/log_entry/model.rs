//! What a log entry is.

use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use crate::timestamp::Timestamp;

/// The type of an entry (interface 2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogType {
    Log,
    Configuration,
}

impl LogType {
    /// Reads `log` or `configuration` without case (decisions L1, L5).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Log, Self::Configuration].into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text))
    }

    /// The interface's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Configuration => "configuration",
        }
    }
}

/// An entry about to be stored; its names are those at the time of receipt (decision L4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogEntry {
    pub received: Timestamp,
    pub log_type: LogType,
    pub description: String,
    /// Answered as User.
    pub user: String,
    /// Answered as Source.
    pub source: String,
    /// Answered as Version.
    pub version: String,
    /// The computer's name, answered as Computer.
    pub computer: String,
    /// The submitted SerialNumber header; only filters see it (decision L5).
    pub serial_number: String,
    pub computer_guid: ComputerGuid,
    pub device_guid: Option<DeviceGuid>,
    pub queue_guid: Option<QueueGuid>,
    pub job_guid: Option<JobGuid>,
    pub job_name: Option<String>,
    pub application_version: String,
}

/// An entry as the log list answers it (interface 2.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLogEntry {
    pub user: String,
    pub source: String,
    pub version: String,
    pub computer: String,
    pub description: String,
}
