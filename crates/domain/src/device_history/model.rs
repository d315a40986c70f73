//! Changes and samples.

use crate::device_status::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
use crate::timestamp::Timestamp;
use std::time::Duration;

/// How often the measured values of a device are kept at most, unless the operator sets another time (decision I1).
pub const SAMPLE_EVERY: Duration = Duration::from_mins(5);

/// The state of a device from a point in time on, until the next change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// Time of receipt.
    pub at: Timestamp,
    pub status: Status,
    /// The Message of the status that changed the state. `None` where the change itself is no longer kept, too.
    pub message: Option<String>,
    pub connection_state: Option<ConnectionState>,
    /// As `message`.
    pub connection_message: Option<String>,
}

impl StateChange {
    /// The state that a status reports.
    #[must_use]
    pub fn of(status: &DeviceStatus) -> Self {
        Self {
            at: status.received,
            status: status.status,
            message: status.message.clone(),
            connection_state: status.connection_state,
            connection_message: status.connection_message.clone(),
        }
    }
}

/// The measured values of a device at one point in time.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSample {
    /// Time of receipt.
    pub at: Timestamp,
    /// Degrees Celsius.
    pub temperature: Option<f64>,
    pub remaining_inks: Vec<RemainingInk>,
    pub queue_length: QueueLength,
}

impl DeviceSample {
    /// The measured values that a status reports.
    #[must_use]
    pub fn of(status: &DeviceStatus) -> Self {
        Self {
            at: status.received,
            temperature: status.temperature,
            remaining_inks: status.remaining_inks.clone(),
            queue_length: status.queue_length,
        }
    }
}

/// From one point in time to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Period {
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at <= self.to
    }
}

/// Chooses samples for a chart: the first of each of as many equal parts of a period as the chart has points. Samples
/// come in the order of time.
#[derive(Debug, Clone, Copy)]
pub struct Thinning {
    from: Timestamp,
    /// Microseconds of a part.
    part: i64,
    /// The last part of which a sample was chosen.
    last: Option<i64>,
}

impl Thinning {
    #[must_use]
    pub fn new(period: Period, most: u32) -> Self {
        let all = period.to.as_micros().saturating_sub(period.from.as_micros());
        Self { from: period.from, part: all / i64::from(most.max(1)) + 1, last: None }
    }

    /// Whether the sample of this time is chosen.
    pub fn chooses(&mut self, at: Timestamp) -> bool {
        let part = at.as_micros().saturating_sub(self.from.as_micros()) / self.part;
        self.last.replace(part) != Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn of_any_samples_no_more_are_chosen_than_asked_for(
            most in 1_u32..50, to in 0_i64..10_000, mut times in prop::collection::vec(0_i64..10_000, 0..300)
        ) {
            times.retain(|time| *time <= to);
            times.sort_unstable();
            let period = Period { from: at(0), to: at(to) };
            let mut thinning = Thinning::new(period, most);
            let chosen: Vec<i64> = times.iter().copied().filter(|time| thinning.chooses(at(*time))).collect();
            prop_assert!(chosen.len() <= most as usize);
            prop_assert_eq!(chosen.first(), times.first());
        }

        #[test]
        fn where_there_is_room_for_all_samples_all_are_chosen(
            every in 1_i64..100, count in 1_i64..200
        ) {
            let to = every * count;
            let mut thinning = Thinning::new(Period { from: at(0), to: at(to) }, 1 + u32::try_from(to).unwrap());
            prop_assert!((0..=count).all(|number| thinning.chooses(at(number * every))));
        }
    }
}
