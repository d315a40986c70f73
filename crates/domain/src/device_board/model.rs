//! Rows, filters, orders and cursors of lists of devices.

use super::earliest;
use crate::caller::OrganizationId;
use crate::device_history::InkForecast;
use crate::device_status::{DeviceStatus, RemainingInk, Reporting, Status};
use crate::guid::{DeviceGuid, parse_guid};
use crate::inspection::RegisteredOrganization;
use crate::timestamp::Timestamp;
use std::fmt;
use std::time::Duration;

/// An ink whose level is below this share of its MaxLevel is low.
pub const LOW_INK: f64 = 0.1;

/// An ink that will be empty within this time is low, too (decision I2).
pub const EMPTY_SOON: Duration = Duration::from_hours(3 * 24);

/// Why a device needs attention. The order of the variants is by urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attention {
    /// The last status is Error.
    Error,
    /// The last status is Offline.
    Offline,
    /// The last status is too old to describe the present (decision I3).
    Silent,
    /// An ink is low.
    LowInk,
    /// None of these.
    Fine,
}

impl Attention {
    /// The most urgent first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Offline, Self::Silent, Self::LowInk, Self::Fine];

    /// The text form, as in queries and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Offline => "offline",
            Self::Silent => "silent",
            Self::LowInk => "low_ink",
            Self::Fine => "fine",
        }
    }

    /// Parses the text form of [`Attention::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attention| attention.as_str() == text)
    }
}

/// The time for which [`Attention`] and [`Reporting`] are computed, and the limit that follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub now: Timestamp,
    /// A device whose last status was received before this time is silent (decision I3).
    pub silent_before: Timestamp,
}

impl Moment {
    #[must_use]
    pub fn new(now: Timestamp, silent_after: Duration) -> Self {
        Self { now, silent_before: now.minus(silent_after) }
    }

    /// An ink that will be empty before this time is low.
    #[must_use]
    pub fn soon(self) -> Timestamp {
        self.now.plus(EMPTY_SOON)
    }
}

/// The lowest level of the inks as a share of MaxLevel, from 0; `None` if no level is known.
#[must_use]
pub fn lowest_ink(inks: &[RemainingInk]) -> Option<f64> {
    let known = inks.iter().filter(|ink| ink.level >= 0.0 && ink.max_level > 0.0);
    known.map(|ink| ink.level / ink.max_level).min_by(f64::total_cmp)
}

/// A registered device with its last status and its last stored forecast.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardDevice {
    pub organization: RegisteredOrganization,
    pub guid: DeviceGuid,
    pub name: String,
    /// `None` if the device never sent a status.
    pub status: Option<DeviceStatus>,
    /// The time of the last change of Status or ConnectionState; `None` if it isn't known.
    pub changed: Option<Timestamp>,
    /// The forecasts, one for each ink that has one (decision I2).
    pub forecast: Vec<InkForecast>,
}

impl BoardDevice {
    /// Whether the device is silent, was never seen, or reports (decision I3).
    #[must_use]
    pub fn reporting(&self, moment: Moment) -> Reporting {
        match &self.status {
            None => Reporting::NeverSeen,
            Some(status) if status.received < moment.silent_before => Reporting::Silent,
            Some(_) => Reporting::Current,
        }
    }

    /// Why the device needs attention.
    #[must_use]
    pub fn attention(&self, moment: Moment) -> Attention {
        let (Some(status), reporting) = (&self.status, self.reporting(moment)) else { return Attention::Fine };
        let is_low = lowest_ink(&status.remaining_inks).is_some_and(|share| share < LOW_INK);
        let is_empty_soon = earliest(&self.forecast).is_some_and(|at| at < moment.soon());
        match status.status {
            _ if reporting == Reporting::Silent => Attention::Silent,
            Status::Error => Attention::Error,
            Status::Offline => Attention::Offline,
            _ if is_low || is_empty_soon => Attention::LowInk,
            _ => Attention::Fine,
        }
    }

    /// The time at which an ink will be empty, by the forecast for its index and name (decision I2).
    #[must_use]
    pub fn empties_at(&self, ink: &RemainingInk) -> Option<Timestamp> {
        let of_ink =
            |forecast: &&InkForecast| forecast.name == ink.name && forecast.index.total_cmp(&ink.index).is_eq();
        self.forecast.iter().find(of_ink).map(|forecast| forecast.empties_at)
    }

    /// The cursor of the page after this device.
    #[must_use]
    pub fn cursor(&self, sort: DeviceSort, moment: Moment) -> DeviceCursor {
        let attention = match sort {
            DeviceSort::Attention => self.attention(moment),
            DeviceSort::Name => Attention::Fine,
        };
        DeviceCursor { attention, name: self.name.clone(), guid: self.guid }
    }
}

/// Conditions of a list of devices; a device must meet all of them. Retired devices are never listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceFilter {
    /// `None` for all organizations.
    pub organization: Option<OrganizationId>,
    /// The last status is one of these; an empty list means any status.
    pub statuses: Vec<Status>,
    /// Whether the device is silent (decision I3). A device that never sent a status isn't silent.
    pub silent: Option<bool>,
    /// Whether the device ever sent a status.
    pub seen: Option<bool>,
    pub attention: Option<Attention>,
    /// A part of the name, without case as far as the database engine supports it.
    pub search: Option<String>,
}

/// The order of a list of devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceSort {
    /// By [`Attention`], then name, then GUID.
    #[default]
    Attention,
    /// By name, then GUID.
    Name,
}

impl DeviceSort {
    /// The text form, as in queries and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Name => "name",
        }
    }

    /// Parses the text form of [`DeviceSort::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Attention, Self::Name].into_iter().find(|sort| sort.as_str() == text)
    }
}

/// A cursor: the next page begins after the device with these values. It stays valid while devices come and go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceCursor {
    /// [`Attention::Fine`] in a list by name.
    pub attention: Attention,
    pub name: String,
    pub guid: DeviceGuid,
}

impl fmt::Display for DeviceCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.attention.as_str(), self.guid.as_uuid().as_simple(), self.name)
    }
}

impl DeviceCursor {
    /// Parses the text that `Display` writes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut pieces = text.splitn(3, '.');
        let attention = Attention::parse(pieces.next()?)?;
        let guid = DeviceGuid::from(parse_guid(pieces.next()?)?);
        Some(Self { attention, name: pieces.next()?.to_owned(), guid })
    }
}

/// The number of devices with one [`Attention`] and one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTally {
    pub attention: Attention,
    /// The last status; `None` for devices that never sent one.
    pub status: Option<Status>,
    pub devices: u64,
}

/// A forecast to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceForecast {
    pub organization: OrganizationId,
    pub device: DeviceGuid,
    /// When the forecast was computed.
    pub at: Timestamp,
    pub inks: Vec<InkForecast>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{a_status, at, numbered};
    use proptest::prelude::*;

    fn device(status: Option<DeviceStatus>) -> BoardDevice {
        BoardDevice {
            organization: RegisteredOrganization { id: OrganizationId(1), name: "Acme".to_owned() },
            guid: numbered(1).into(),
            name: "Latex".to_owned(),
            status,
            changed: None,
            forecast: Vec::new(),
        }
    }

    fn ink(level: f64, max_level: f64) -> RemainingInk {
        RemainingInk { index: 0.0, name: "Cyan".to_owned(), level, max_level }
    }

    const NOW: i64 = 1_000;

    fn sent(status: Status, inks: Vec<RemainingInk>) -> BoardDevice {
        let status = DeviceStatus { status, remaining_inks: inks, received: at(NOW), ..a_status(numbered(1).into()) };
        device(Some(status))
    }

    #[test]
    fn a_device_needs_attention_for_the_most_urgent_reason() {
        // Decisions I2 and I3.
        let moment = Moment::new(at(NOW), Duration::from_mins(15));
        let low = || vec![ink(9.9, 100.0)];
        assert_eq!(device(None).attention(moment), Attention::Fine);
        assert_eq!(sent(Status::Error, low()).attention(moment), Attention::Error);
        assert_eq!(sent(Status::Offline, low()).attention(moment), Attention::Offline);
        assert_eq!(sent(Status::Printing, low()).attention(moment), Attention::LowInk);
        for unknown in [ink(10.0, 100.0), ink(-1.0, 100.0), ink(0.0, 0.0)] {
            assert_eq!(sent(Status::Idle, vec![unknown]).attention(moment), Attention::Fine);
        }
        let later = Moment::new(at(NOW + 901), Duration::from_mins(15));
        assert_eq!(sent(Status::Error, low()).attention(later), Attention::Silent, "an error of the past");
        let forecast = |days: u64| InkForecast {
            index: 0.0,
            name: "Cyan".to_owned(),
            per_day: 1.0,
            empties_at: at(NOW).plus(Duration::from_hours(24 * days)),
        };
        let used = |days| BoardDevice { forecast: vec![forecast(days)], ..sent(Status::Idle, vec![ink(50.0, 100.0)]) };
        assert_eq!((used(2).attention(moment), used(3).attention(moment)), (Attention::LowInk, Attention::Fine));
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for name in ["", "Latex 1.2", "a.b.c", "Ü <b>"] {
            let cursor = DeviceCursor { attention: Attention::LowInk, name: name.to_owned(), guid: numbered(7).into() };
            assert_eq!(DeviceCursor::parse(&cursor.to_string()), Some(cursor));
        }
        for text in ["", "fine", "fine.x.Name", "none.00000000000000000000000000000001.Name"] {
            assert_eq!(DeviceCursor::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9._]{0,60}") {
            let _ = DeviceCursor::parse(&text);
        }
    }
}
