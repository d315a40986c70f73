//! What is kept for how long, and how far a removal has come.

use crate::caller::OrganizationId;
use crate::timestamp::Timestamp;
use std::time::Duration;

/// What is removed when it is old enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetainedRecords {
    Logs,
    CrashReports,
    /// Changes and samples of devices (decision I1).
    DeviceHistory,
}

impl RetainedRecords {
    pub const ALL: [Self; 3] = [Self::Logs, Self::CrashReports, Self::DeviceHistory];

    /// The word for it in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Logs => "logs",
            Self::CrashReports => "crash_reports",
            Self::DeviceHistory => "device_history",
        }
    }
}

/// How long records are kept, counted from their receipt by the server's clock; `None`: for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    pub logs: Option<Duration>,
    pub crash_reports: Option<Duration>,
    pub device_history: Option<Duration>,
}

impl RetentionPolicy {
    /// How long records of this kind are kept.
    #[must_use]
    pub fn of(self, kind: RetainedRecords) -> Option<Duration> {
        match kind {
            RetainedRecords::Logs => self.logs,
            RetainedRecords::CrashReports => self.crash_reports,
            RetainedRecords::DeviceHistory => self.device_history,
        }
    }
}

/// Where a removal goes on: organizations come by their ids, the records of each by their times of receipt.
/// What comes before it has been removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemovalCursor {
    pub organization: OrganizationId,
    pub received: Timestamp,
}

/// What became of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// Another process is removing; nothing was done.
    Elsewhere,
    /// So many records were removed; `rest` is where to go on, `None` if nothing that old is left.
    Done { removed: u64, rest: Option<RemovalCursor> },
}
