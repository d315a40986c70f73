//! How much ink a device uses, and when its tanks will be empty (decision I2).

#[cfg(test)]
mod tests;

use super::DeviceSample;
use crate::device_status::RemainingInk;
use crate::timestamp::Timestamp;
use std::time::Duration;

/// A rise by more than this share of MaxLevel is a refill.
const REFILL: f64 = 0.05;

/// How long the samples must reach.
const SHORTEST: Duration = Duration::from_hours(24);

/// Tanks that last longer than this, 100 years, have no forecast.
const LONGEST: f64 = 36_525.0;

const MICROS_PER_DAY: f64 = 86_400_000_000.0;

/// When an ink will be used up.
#[derive(Debug, Clone, PartialEq)]
pub struct InkForecast {
    /// Sequence index, as in the status.
    pub index: f64,
    pub name: String,
    /// Millilitres that are used in a day; above zero.
    pub per_day: f64,
    /// When the tank will be empty, never before its last sample.
    pub empties_at: Timestamp,
}

/// What the samples of a device say about its use of ink. They are added one by one, oldest first; memory depends on the
/// number of inks only.
#[derive(Debug, Clone, Default)]
pub struct InkUsage(Vec<Tank>);

impl InkUsage {
    /// Samples older than this say nothing about the use of today.
    pub const WINDOW: Duration = Duration::from_hours(7 * 24);

    /// Most inks of which a forecast is made.
    pub const MAX_INKS: usize = 256;

    /// Adds a sample. An unknown level, which is below zero, counts as none.
    pub fn add(&mut self, sample: &DeviceSample) {
        for ink in sample.remaining_inks.iter().filter(|ink| ink.level >= 0.0) {
            if let Some(tank) = self.0.iter_mut().find(|tank| tank.is_of(ink)) {
                tank.add(sample.at, ink);
            } else if self.0.len() < Self::MAX_INKS {
                self.0.push(Tank::new(sample.at, ink));
            }
        }
    }

    /// The forecast of each ink that has samples over at least 24 hours and some use.
    #[must_use]
    pub fn forecast(&self) -> Vec<InkForecast> {
        self.0.iter().filter_map(Tank::forecast).collect()
    }
}

/// The use of one ink.
#[derive(Debug, Clone)]
struct Tank {
    first: Timestamp,
    last: Timestamp,
    /// As it was in the last sample.
    ink: RemainingInk,
    /// Millilitres since the first sample. Small rises count against it, since they are errors of measurement.
    used: f64,
}

impl Tank {
    fn new(at: Timestamp, ink: &RemainingInk) -> Self {
        Self { first: at, last: at, ink: ink.clone(), used: 0.0 }
    }

    fn is_of(&self, ink: &RemainingInk) -> bool {
        self.ink.name == ink.name && self.ink.index.total_cmp(&ink.index).is_eq()
    }

    fn add(&mut self, at: Timestamp, ink: &RemainingInk) {
        // A device may name an ink twice in one sample.
        if at <= self.last {
            return;
        }
        let rise = ink.level - self.ink.level;
        if rise <= REFILL * ink.max_level.max(0.0) {
            self.used -= rise;
        }
        self.last = at;
        self.ink = ink.clone();
    }

    fn forecast(&self) -> Option<InkForecast> {
        if self.last < self.first.plus(SHORTEST) {
            return None;
        }
        let per_day = self.used / days(self.first, self.last);
        let left = self.ink.level / per_day;
        let is_usable = per_day.is_finite() && per_day > 0.0 && left <= LONGEST;
        is_usable.then(|| InkForecast {
            index: self.ink.index,
            name: self.ink.name.clone(),
            per_day,
            empties_at: self.last.plus(Duration::from_secs_f64(left * 86_400.0)),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a week is exact in microseconds")]
fn days(from: Timestamp, to: Timestamp) -> f64 {
    to.as_micros().saturating_sub(from.as_micros()) as f64 / MICROS_PER_DAY
}
