//! Inks and temperature of a device over time as lines.

use super::band::gap;
use crate::chart::{Mark, TimeAxis, ValueAxis, pieces};
use crate::format::short;
use crate::inks::{decimal, fill, share};
use domain::device_board::DeviceHistory;
use domain::device_history::DeviceSample;
use domain::device_status::RemainingInk;
use domain::timestamp::Timestamp;

/// Points of a line, at most.
const MOST_POINTS: usize = 288;

/// Inks of the chart, at most.
const MOST_INKS: usize = 16;

/// The measured values over time, and the same as a table.
pub(super) struct Lines {
    pub(super) inks: Vec<Line>,
    /// In percent.
    pub(super) ink_marks: Vec<Mark>,
    /// Empty without any temperature.
    pub(super) temperature: Vec<String>,
    pub(super) temperature_marks: Vec<Mark>,
    pub(super) time_marks: Vec<Mark>,
    /// The newest first.
    pub(super) rows: Vec<Row>,
    /// `every 4th of 1,000 samples`, or `12 samples`.
    pub(super) count: String,
}

/// The levels of one ink.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) fill: &'static str,
    /// The points of each piece without a gap.
    pub(super) pieces: Vec<String>,
}

/// A sample of the table.
pub(super) struct Row {
    pub(super) at: Timestamp,
    pub(super) temperature: String,
    /// In the order of the lines.
    pub(super) levels: Vec<String>,
}

impl Lines {
    pub(super) fn of(history: &DeviceHistory) -> Self {
        let every = history.samples.len().div_ceil(MOST_POINTS).max(1);
        let samples: Vec<&DeviceSample> = history.samples.iter().step_by(every).collect();
        let times: Vec<Timestamp> = samples.iter().map(|sample| sample.at).collect();
        let (time, gap) = (TimeAxis(history.period), gap(&times));
        let percent = ValueAxis::around(0.0..=100.0);
        let inks = inks(&samples);
        let line = |ink: &RemainingInk| {
            let points =
                samples.iter().map(|sample| (sample.at, level(sample, ink).and_then(share).map(|of| of * 100.0)));
            Line { name: short(&ink.name), fill: fill(&ink.name), pieces: pieces(points, time, percent, gap) }
        };
        let degrees: Vec<f64> = samples.iter().filter_map(|sample| sample.temperature).collect();
        let bounds = degrees.iter().copied().reduce(f64::min).zip(degrees.iter().copied().reduce(f64::max));
        let axis = bounds.map(|(low, high)| ValueAxis::around(low..=high));
        let points = || samples.iter().map(|sample| (sample.at, sample.temperature));
        Self {
            temperature: axis.map(|axis| pieces(points(), time, axis, gap)).unwrap_or_default(),
            temperature_marks: axis.map(|axis| axis.marks(" °C")).unwrap_or_default(),
            ink_marks: percent.marks(" %"),
            time_marks: time.marks(),
            rows: samples.iter().rev().map(|sample| row(sample, &inks)).collect(),
            inks: inks.iter().map(|ink| line(ink)).collect(),
            count: count(history.samples.len(), every),
        }
    }
}

/// The first different inks of the samples, in the order of their last sample.
fn inks<'a>(samples: &[&'a DeviceSample]) -> Vec<&'a RemainingInk> {
    let mut inks: Vec<&RemainingInk> = Vec::new();
    for ink in samples.iter().rev().flat_map(|sample| sample.remaining_inks.iter().take(MOST_INKS)) {
        if inks.len() < MOST_INKS && !inks.iter().any(|known| is_same(known, ink)) {
            inks.push(ink);
        }
    }
    inks
}

fn is_same(one: &RemainingInk, other: &RemainingInk) -> bool {
    one.name == other.name && one.index.total_cmp(&other.index).is_eq()
}

fn level<'a>(sample: &'a DeviceSample, ink: &RemainingInk) -> Option<&'a RemainingInk> {
    sample.remaining_inks.iter().find(|one| is_same(one, ink))
}

fn row(sample: &DeviceSample, inks: &[&RemainingInk]) -> Row {
    let shown = |ink: &&RemainingInk| {
        let level = level(sample, ink).filter(|ink| ink.level >= 0.0);
        level.map_or_else(|| "–".to_owned(), |ink| format!("{} ml", decimal(ink.level)))
    };
    Row {
        at: sample.at,
        temperature: sample.temperature.map_or_else(|| "–".to_owned(), |degrees| format!("{} °C", decimal(degrees))),
        levels: inks.iter().map(shown).collect(),
    }
}

fn count(samples: usize, every: usize) -> String {
    match every {
        1 => format!("{samples} samples"),
        every => format!("one of {every} of {samples} samples"),
    }
}
