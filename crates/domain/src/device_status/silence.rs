//! Whether a device still reports (decision I3).

use crate::timestamp::Timestamp;
use std::time::Duration;

/// How long a device may report nothing, unless the operator sets another time (decision I3).
pub const SILENT_AFTER: Duration = Duration::from_mins(15);

/// Whether a device still reports. The last status of a silent one is its past, not its present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporting {
    /// It never sent a status.
    NeverSeen,
    /// It sent none for longer than it may.
    Silent,
    Current,
}

impl Reporting {
    /// `last` is the time of receipt of the last status.
    #[must_use]
    pub fn of(last: Option<Timestamp>, now: Timestamp, silent_after: Duration) -> Self {
        match last {
            None => Self::NeverSeen,
            Some(last) if last < now.minus(silent_after) => Self::Silent,
            Some(_) => Self::Current,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn a_device_is_silent_when_its_last_status_is_too_old() {
        // Decision I3.
        let of = |last: Option<i64>| Reporting::of(last.map(at), at(900), SILENT_AFTER);
        assert_eq!(of(None), Reporting::NeverSeen);
        assert_eq!(of(Some(-1)), Reporting::Silent);
        assert_eq!(of(Some(0)), Reporting::Current);
        assert_eq!(of(Some(2_000)), Reporting::Current, "clocks differ");
    }
}
