//! A device as pages show it.

use crate::format::{duration, long};
use crate::inks::{Ink, decimal};
use domain::device_board::{Attention, BoardDevice, Moment};
use domain::device_status::{ConnectionState, DeviceStatus, QueueLength, Reporting, Status};
use domain::timestamp::Timestamp;

/// A device with the words, shapes and units of pages.
pub(crate) struct Device {
    pub(crate) guid: String,
    pub(crate) name: String,
    pub(crate) organization: String,
    /// The kind and the word of its badge.
    pub(crate) state: (&'static str, String),
    /// Why it needs somebody, where the badge doesn't say it; else empty.
    pub(crate) need: &'static str,
    /// Whether what it said last is past.
    pub(crate) is_past: bool,
    pub(crate) received: Option<Timestamp>,
    /// When the state began, if that is known.
    pub(crate) changed: Option<Timestamp>,
    /// The kind and the word of the connection's badge.
    pub(crate) connection: Option<(&'static str, &'static str)>,
    pub(crate) connection_message: String,
    pub(crate) message: String,
    /// `31.5 °C`, or empty.
    pub(crate) temperature: String,
    /// `12.5 units`, or empty.
    pub(crate) queue: String,
    pub(crate) inks: Vec<Ink>,
    /// Inks that aren't shown.
    pub(crate) more_inks: usize,
}

impl Device {
    pub(crate) fn of(device: BoardDevice, moment: Moment, most_inks: usize) -> Self {
        let inks = Ink::first(&device, moment, most_inks);
        let status = device.status.as_ref();
        let all_inks = status.map_or(0, |status| status.remaining_inks.len());
        let text = |text: Option<&String>| text.map(long).unwrap_or_default();
        Self {
            guid: device.guid.to_string(),
            state: badge(&device, moment),
            need: if device.attention(moment) == Attention::LowInk { "Low on ink" } else { "" },
            is_past: device.reporting(moment) == Reporting::Silent,
            received: status.map(|status| status.received),
            changed: device.changed,
            connection: status.and_then(|status| status.connection_state).map(connection),
            connection_message: text(status.and_then(|status| status.connection_message.as_ref())),
            message: text(status.and_then(|status| status.message.as_ref())),
            temperature: status.and_then(temperature).unwrap_or_default(),
            queue: status.map(|status| queue(status.queue_length)).unwrap_or_default(),
            more_inks: all_inks - inks.len(),
            inks,
            organization: device.organization.name,
            name: device.name,
        }
    }
}

/// The state of a device: that of a silent one is past (decision I3).
fn badge(device: &BoardDevice, moment: Moment) -> (&'static str, String) {
    match (&device.status, device.reporting(moment)) {
        (None, _) => ("past", "Never seen".to_owned()),
        (Some(status), Reporting::Silent) => {
            let age = moment.now.whole_seconds().saturating_sub(status.received.whole_seconds());
            ("past", format!("Silent for {}, was {}", duration(age), state(status.status).1.to_lowercase()))
        }
        (Some(status), _) => {
            let (kind, word) = state(status.status);
            (kind, word.to_owned())
        }
    }
}

/// The kind of a badge and the word of a status.
pub(crate) fn state(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Error => ("bad", "Error"),
        Status::Offline => ("warn", "Offline"),
        Status::Aborting => ("warn", "Aborting"),
        Status::Printing => ("busy", "Printing"),
        Status::Calibrating => ("busy", "Calibrating"),
        Status::Idle => ("good", "Idle"),
        Status::Sleeping => ("idle", "Sleeping"),
    }
}

fn connection(state: ConnectionState) -> (&'static str, &'static str) {
    match state {
        ConnectionState::Online => ("good", "Online"),
        ConnectionState::Unstable => ("warn", "Unstable"),
        ConnectionState::Offline => ("bad", "Not connected"),
    }
}

fn temperature(status: &DeviceStatus) -> Option<String> {
    status.temperature.map(|degrees| format!("{} °C", decimal(degrees)))
}

/// The interface names no unit of length or area, since devices have their own.
fn queue(length: QueueLength) -> String {
    match length {
        QueueLength::Length(units) => format!("{} units long", decimal(units)),
        QueueLength::Area(units) => format!("{} square units", decimal(units)),
        QueueLength::Sheets(1) => "1 sheet".to_owned(),
        QueueLength::Sheets(sheets) => format!("{} sheets", crate::format::count(&sheets)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::device_status::SILENT_AFTER;
    use domain::inspection::RegisteredOrganization;
    use domain::testing::{a_status, at, numbered};

    /// Decision I3.
    #[test]
    fn the_state_of_a_silent_device_is_past() {
        let device = |status: Option<DeviceStatus>| BoardDevice {
            organization: RegisteredOrganization { id: OrganizationId(1), name: String::new() },
            guid: numbered(1).into(),
            name: String::new(),
            status,
            changed: None,
            forecast: Vec::new(),
        };
        let sent = || device(Some(DeviceStatus { status: Status::Printing, ..a_status(numbered(1).into()) }));
        let moment = |second| Moment::new(at(second), SILENT_AFTER);
        assert_eq!(badge(&sent(), moment(900)), ("busy", "Printing".to_owned()));
        assert_eq!(badge(&sent(), moment(7_300)), ("past", "Silent for 2 h, was printing".to_owned()));
        assert_eq!(badge(&device(None), moment(0)).1, "Never seen");
        assert!(Device::of(sent(), moment(7_300), 9).is_past);
    }

    #[test]
    fn queues_have_their_units() {
        for (length, shown) in [
            (QueueLength::Length(12.5), "12.5 units long"),
            (QueueLength::Area(3.0), "3 square units"),
            (QueueLength::Sheets(1), "1 sheet"),
            (QueueLength::Sheets(12_000), "12,000 sheets"),
        ] {
            assert_eq!(queue(length), shown);
        }
    }
}
