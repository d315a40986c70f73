//! Printers over ten days: what they do, their inks, temperature and queue.

use domain::device_status::{QueueLengthInput, RemainingInkInput, StatusInput, StatusValues, UpdateDeviceStatus};
use domain::error::Outcome;
use domain::guid::DeviceGuid;
use fastrand::Rng;

/// What is the matter with a printer at the end of the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Fine,
    /// In error since some hours.
    Error(&'static str),
    /// Its connection is lost.
    Offline,
    /// Its computer was switched off: no more statuses for hours.
    Silent,
    /// An ink is about to run out.
    LowInk,
    /// It was registered and never sent a status.
    NeverSeen,
}

/// The measure of a queue.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Length,
    Area,
    Sheets,
}

/// A printer and its inks.
pub(super) struct Printer {
    pub(super) guid: DeviceGuid,
    pub(super) end: End,
    measure: Measure,
    inks: Vec<Ink>,
    /// How much of the working day it prints.
    load: f64,
    queue: f64,
}

struct Ink {
    name: &'static str,
    level: f64,
    max: f64,
    /// Millilitres of an hour of printing.
    use_per_hour: f64,
}

const CMYK: &[&str] = &["Cyan", "Magenta", "Yellow", "Black"];
const LATEX: &[&str] = &["Cyan", "Magenta", "Yellow", "Black", "Light Cyan", "Light Magenta", "Optimizer"];
const UV: &[&str] = &["Cyan", "Magenta", "Yellow", "Black", "White", "Varnish"];
const PHOTO: &[&str] =
    &["Cyan", "Magenta", "Yellow", "Photo Black", "Matte Black", "Light Cyan", "Light Magenta", "Gray", "Red", "Blue"];

/// Hours before the end from which the printer is as it is at the end.
const LAST_HOURS: f64 = 5.0;

const MESSAGES: [&str; 4] = [
    "Media jam at the take-up roll",
    "Nozzle check failed: 14 nozzles of magenta are blocked",
    "Carriage can't move: check for wrinkled media",
    "Dryer is too cold",
];

impl Printer {
    pub(super) fn new(guid: DeviceGuid, name: &str, place: usize, rng: &mut Rng) -> Self {
        let (names, measure) = match name {
            _ if name.contains("Latex") => (LATEX, Measure::Length),
            _ if name.contains("UV 2512") || name.contains("Glass") => (UV, Measure::Area),
            _ if name.contains("Fine Art") || name.contains("Minilab") => (PHOTO, Measure::Length),
            _ if name.contains("Sheet") => (CMYK, Measure::Sheets),
            _ => (CMYK, Measure::Length),
        };
        let end = match place {
            1 => End::Error("Media jam at the take-up roll"),
            4 => End::LowInk,
            6 => End::Silent,
            8 => End::Offline,
            11 => End::NeverSeen,
            _ => End::Fine,
        };
        let ink = |(place, name): (usize, &&'static str)| {
            let max = if names.len() > 8 { 350.0 } else { 1_000.0 };
            let use_per_hour = max * (0.004 + 0.006 * rng.f64()) * if place == 3 { 1.6 } else { 1.0 };
            Ink { name, level: max * (0.35 + 0.6 * rng.f64()), max, use_per_hour }
        };
        let inks = names.iter().enumerate().map(ink).collect();
        Self { guid, end, measure, inks, load: 0.35 + 0.5 * rng.f64(), queue: 0.0 }
    }

    /// The status `hours` after the one before; `hour` of the day in UTC, `left` hours before the end. `None` if it sends
    /// none.
    pub(super) fn next(
        &mut self,
        rng: &mut Rng,
        hours: f64,
        hour: u32,
        left: f64,
    ) -> Option<Outcome<UpdateDeviceStatus>> {
        let is_last = left < LAST_HOURS;
        let works = (6..19).contains(&hour);
        let chance = rng.f64();
        let fails = works && chance > 0.985;
        let (status, message) = match self.end {
            End::NeverSeen => return None,
            End::Silent if is_last => return None,
            End::Error(message) if is_last => ("Error", Some(message)),
            End::Offline if is_last => ("Offline", None),
            _ if fails => ("Error", Some(MESSAGES[rng.usize(..MESSAGES.len())])),
            _ if works && chance < self.load => ("Printing", None),
            _ if works && chance > 0.97 => ("Calibrating", Some("Daily calibration")),
            _ if works || rng.f64() < 0.2 => ("Idle", None),
            _ => ("Sleeping", None),
        };
        let is_printing = status == "Printing";
        self.work(rng, if is_printing { hours } else { 0.0 }, left);
        self.queue = match (is_printing, works) {
            (true, _) => (self.queue + rng.f64() * 14.0 - 5.0).clamp(2.0, 90.0),
            (false, true) => (self.queue + rng.f64() * 6.0 - 4.0).clamp(0.0, 90.0),
            (false, false) => 0.0,
        };
        let is_offline = status == "Offline";
        let is_unstable = !is_offline && rng.f64() > 0.99;
        let (connection, connection_message) = match (is_offline, is_unstable) {
            (true, _) => ("Offline", Some("no answer to PING for 5 h")),
            (false, true) => ("Unstable", Some("4 of 10 PING messages lost")),
            _ => ("Online", None),
        };
        let warmth = if is_printing { 9.0 } else { 0.0 };
        let values = StatusValues::new(StatusInput {
            status: Some(status.to_owned()),
            message: message.map(str::to_owned),
            temperature: Some(round(24.0 + warmth + 4.0 * rng.f64())),
            connection_state: Some(connection.to_owned()),
            connection_message: connection_message.map(str::to_owned),
            remaining_inks: self.inks.iter().zip(0_u32..).map(remaining).collect(),
            queue_length: Some(self.queue_length()),
        });
        Some(UpdateDeviceStatus::new(Some(self.guid.to_string()), values))
    }

    /// Uses ink for so many hours, and changes tanks that are nearly empty.
    fn work(&mut self, rng: &mut Rng, hours: f64, left: f64) {
        let is_low_at_end = self.end == End::LowInk;
        for (place, ink) in self.inks.iter_mut().enumerate() {
            ink.level -= ink.use_per_hour * hours * (0.7 + 0.6 * rng.f64());
            if is_low_at_end && place == 1 && left < LAST_HOURS {
                ink.level = ink.level.min(ink.max * 0.06);
            } else if ink.level < ink.max * (0.05 + 0.08 * rng.f64()) {
                ink.level = ink.max * (0.97 + 0.03 * rng.f64());
            }
            ink.level = ink.level.max(ink.max * 0.01);
        }
    }

    fn queue_length(&self) -> QueueLengthInput {
        let mut length = QueueLengthInput::default();
        let amount = Some(round(self.queue));
        match self.measure {
            Measure::Length => length.length = amount,
            Measure::Area => length.area = amount,
            Measure::Sheets => length.sheets = Some((self.queue * 20.0).round()),
        }
        length
    }
}

fn remaining((ink, index): (&Ink, u32)) -> RemainingInkInput {
    RemainingInkInput {
        index: Some(index.into()),
        name: Some(ink.name.to_owned()),
        level: Some(round(ink.level)),
        max_level: Some(ink.max),
    }
}

/// One digit after the point.
fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
