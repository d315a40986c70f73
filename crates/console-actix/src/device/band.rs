//! The states of a device over time as a band.

use crate::chart::{LEFT, Mark, TimeAxis, place};
use crate::devices::state;
use crate::format::{duration, long, minute};
use domain::device_board::DeviceHistory;
use domain::device_history::{DeviceSample, StateChange};
use domain::device_status::{ConnectionState, Status};
use domain::timestamp::Timestamp;
use std::time::Duration;

/// Pieces that are narrower aren't drawn, but for errors.
const NARROWEST: f64 = 0.4;

/// A device that is heard from sends samples more often.
const SHORTEST_SILENCE: Duration = Duration::from_mins(20);

/// Changes of the table, at most.
const MOST_ROWS: usize = 200;

/// The states over time, and the same as a table.
pub(super) struct Band {
    pub(super) pieces: Vec<Piece>,
    /// Times without a status.
    pub(super) silences: Vec<Piece>,
    pub(super) marks: Vec<Mark>,
    /// Each state that is drawn: word and class.
    pub(super) legend: Vec<(&'static str, &'static str)>,
    /// The newest first.
    pub(super) changes: Vec<Change>,
    /// Changes that the table leaves out.
    pub(super) more: usize,
    /// Whether even the band has not all changes.
    pub(super) is_cut: bool,
}

/// A rectangle of the band.
pub(super) struct Piece {
    pub(super) x: String,
    pub(super) width: String,
    /// States differ by height, too.
    pub(super) y: u8,
    pub(super) height: u8,
    pub(super) class: &'static str,
    /// `Printing, 2026-05-04 09:30 UTC, for 3 h`
    pub(super) words: String,
}

/// A change of the table.
pub(super) struct Change {
    pub(super) at: Timestamp,
    pub(super) state: (&'static str, &'static str),
    pub(super) message: String,
    pub(super) connection: &'static str,
    /// `3 h`
    pub(super) lasted: String,
}

impl Band {
    pub(super) fn of(history: &DeviceHistory) -> Self {
        let axis = TimeAxis(history.period);
        let spans = spans(history);
        let mut legend = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut end = LEFT;
        for (change, until) in &spans {
            let (from, to) = (axis.x(change.at), axis.x(*until));
            let is_error = change.status == Status::Error;
            let width = if is_error { (to - from).max(1.0) } else { to - from };
            if width < NARROWEST || (is_error && from + width <= end) {
                continue;
            }
            end = from + width;
            let (height, class) = drawn(change.status);
            let word = state(change.status).1;
            if !legend.contains(&(word, class)) {
                legend.push((word, class));
            }
            pieces.push(piece(from, width, height, class, words(word, change.at, *until)));
        }
        let silent = |(from, to): (Timestamp, Timestamp)| {
            let (x, end) = (axis.x(from), axis.x(to));
            piece(x, end - x, 44, "band-silent", words("No status", from, to))
        };
        Self {
            pieces,
            silences: silences(&history.samples, history.period.to).into_iter().map(silent).collect(),
            marks: axis.marks(),
            legend,
            changes: spans.iter().rev().take(MOST_ROWS).map(|(change, until)| row(change, *until)).collect(),
            more: spans.len().saturating_sub(MOST_ROWS),
            is_cut: history.is_cut,
        }
    }
}

/// Each change with the time until when it held.
fn spans(history: &DeviceHistory) -> Vec<(&StateChange, Timestamp)> {
    let ends = history.changes.iter().skip(1).map(|change| change.at).chain([history.period.to]);
    history.changes.iter().zip(ends).collect()
}

/// The height of a state in a band of 44, and its class.
fn drawn(status: Status) -> (u8, &'static str) {
    match status {
        Status::Error => (44, "band-error"),
        Status::Aborting => (44, "band-aborting"),
        Status::Printing => (36, "band-printing"),
        Status::Calibrating => (28, "band-calibrating"),
        Status::Idle => (18, "band-idle"),
        Status::Sleeping => (10, "band-sleeping"),
        Status::Offline => (5, "band-offline"),
    }
}

fn piece(x: f64, width: f64, height: u8, class: &'static str, words: String) -> Piece {
    Piece { x: place(x), width: place(width.max(0.5)), y: 48 - height, height, class, words }
}

fn words(word: &str, from: Timestamp, to: Timestamp) -> String {
    format!("{word}, {}, for {}", minute(&from), lasted(from, to))
}

fn lasted(from: Timestamp, to: Timestamp) -> String {
    duration(to.whole_seconds().saturating_sub(from.whole_seconds()))
}

fn row(change: &StateChange, until: Timestamp) -> Change {
    Change {
        at: change.at,
        state: state(change.status),
        message: change.message.as_ref().map(long).unwrap_or_default(),
        connection: change.connection_state.map_or("–", ConnectionState::as_str),
        lasted: lasted(change.at, until),
    }
}

/// The times in which no sample came: the state of then is not known, since a device that reports sends samples.
pub(super) fn silences(samples: &[DeviceSample], end: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    let times: Vec<Timestamp> = samples.iter().map(|sample| sample.at).collect();
    let gap = gap(&times);
    let next = times.iter().copied().skip(1).chain([end]);
    times.iter().copied().zip(next).filter(|(one, other)| *other > one.plus(gap)).collect()
}

/// The time between two samples from which on they have a gap. Samples of long periods are thinned.
pub(super) fn gap(times: &[Timestamp]) -> Duration {
    let mut distances: Vec<i64> =
        times.windows(2).map(|pair| pair[1].as_micros().saturating_sub(pair[0].as_micros())).collect();
    distances.sort_unstable();
    let median = distances.get(distances.len() / 2).copied().unwrap_or_default();
    SHORTEST_SILENCE.max(Duration::from_micros(median.max(0).cast_unsigned()) * 3)
}
