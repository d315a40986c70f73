//! The figures of the first page.

use crate::crash_group::CrashGroup;
use crate::device_board::{Attention, BoardDevice, DeviceTally, Moment};
use crate::device_status::Status;
use crate::timestamp::Timestamp;

/// The number of devices in each state. A silent device counts as silent only (decision I3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceFigures {
    pub all: u64,
    pub printing: u64,
    pub idle: u64,
    pub error: u64,
    pub offline: u64,
    /// Aborting, sleeping or calibrating.
    pub other: u64,
    pub silent: u64,
    pub never_seen: u64,
    /// Devices that need attention only because an ink is low.
    pub low_ink: u64,
}

impl DeviceFigures {
    /// Adds up tallies.
    #[must_use]
    pub fn of(tallies: &[DeviceTally]) -> Self {
        let mut figures = Self::default();
        for tally in tallies {
            let state = match (tally.attention, tally.status) {
                (Attention::Silent, _) => &mut figures.silent,
                (_, None) => &mut figures.never_seen,
                (_, Some(Status::Printing)) => &mut figures.printing,
                (_, Some(Status::Idle)) => &mut figures.idle,
                (_, Some(Status::Error)) => &mut figures.error,
                (_, Some(Status::Offline)) => &mut figures.offline,
                (_, Some(Status::Aborting | Status::Sleeping | Status::Calibrating)) => &mut figures.other,
            };
            *state += tally.devices;
            figures.all += tally.devices;
            figures.low_ink += if tally.attention == Attention::LowInk { tally.devices } else { 0 };
        }
        figures
    }

    /// The number of devices that need attention.
    #[must_use]
    pub fn needing(&self) -> u64 {
        self.error + self.offline + self.silent + self.low_ink
    }
}

/// The groups of crash reports that are new or regressed (decision I5).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnsettledGroups {
    pub new: u64,
    pub regressed: u64,
    /// The first of these groups, the last seen first.
    pub first: Vec<CrashGroup>,
}

/// The number of requests that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonFigure {
    /// [`crate::error::Reason::code`], or a code of the HTTP layer in the same form.
    pub reason: String,
    pub refusals: u64,
}

/// The number of log entries that were received in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourFigure {
    /// The beginning of the hour.
    pub from: Timestamp,
    pub entries: u64,
}

/// The figures of the first page.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    pub moment: Moment,
    pub devices: DeviceFigures,
    /// The first devices that need attention, the most urgent first.
    pub needing: Vec<BoardDevice>,
    pub crash_groups: UnsettledGroups,
    /// Refusals of the last 24 hours, the most frequent reason first. Only the newest refusals of each organization are
    /// stored ([`crate::refusal::KEPT_PER_OWNER`]).
    pub refusals: Vec<ReasonFigure>,
    /// Log entries of the present hour and the 23 before, oldest first.
    pub log_hours: Vec<HourFigure>,
    /// The number of resources of which at least one computer has an outdated content (decision I9).
    pub outdated_resources: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_is_counted_in_one_state() {
        // Decision I3.
        let tally = |attention, status, devices| DeviceTally { attention, status, devices };
        let figures = DeviceFigures::of(&[
            tally(Attention::Fine, Some(Status::Printing), 1),
            tally(Attention::LowInk, Some(Status::Printing), 2),
            tally(Attention::Silent, Some(Status::Printing), 4),
            tally(Attention::Error, Some(Status::Error), 8),
            tally(Attention::Fine, None, 16),
            tally(Attention::Fine, Some(Status::Sleeping), 32),
            tally(Attention::LowInk, Some(Status::Idle), 64),
            tally(Attention::Offline, Some(Status::Offline), 128),
        ]);
        let expected = DeviceFigures {
            all: 255,
            printing: 3,
            idle: 64,
            error: 8,
            offline: 128,
            other: 32,
            silent: 4,
            never_seen: 16,
            low_ink: 66,
        };
        assert_eq!((figures, figures.needing()), (expected, 206));
    }
}
