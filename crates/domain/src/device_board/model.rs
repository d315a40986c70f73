//! What a list of devices holds, and in which order.

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

/// An ink that will be empty within this time is low, too.
pub const EMPTY_SOON: Duration = Duration::from_hours(3 * 24);

/// Why a device needs somebody, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attention {
    /// Its Status is Error.
    Error,
    /// Its Status is Offline.
    Offline,
    /// Its last status is too old (decision I3); what it says is past.
    Silent,
    /// An ink is low.
    LowInk,
    /// None of these.
    Fine,
}

impl Attention {
    /// The most urgent first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Offline, Self::Silent, Self::LowInk, Self::Fine];

    /// The word for it.
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

    /// Reads [`Attention::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attention| attention.as_str() == text)
    }
}

/// The times by which a list judges its devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub now: Timestamp,
    /// A status that was received before this is too old (decision I3).
    pub silent_before: Timestamp,
}

impl Moment {
    #[must_use]
    pub fn new(now: Timestamp, silent_after: Duration) -> Self {
        Self { now, silent_before: now.minus(silent_after) }
    }

    /// An ink that is empty before this is low.
    #[must_use]
    pub fn soon(self) -> Timestamp {
        self.now.plus(EMPTY_SOON)
    }
}

/// The lowest level of the inks as a share of MaxLevel; `None` where no level is known.
#[must_use]
pub fn lowest_ink(inks: &[RemainingInk]) -> Option<f64> {
    let known = inks.iter().filter(|ink| ink.level >= 0.0 && ink.max_level > 0.0);
    known.map(|ink| ink.level / ink.max_level).min_by(f64::total_cmp)
}

/// A registered device with its last status and the last forecast that was made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardDevice {
    pub organization: RegisteredOrganization,
    pub guid: DeviceGuid,
    pub name: String,
    /// `None` if it never sent one.
    pub status: Option<DeviceStatus>,
    /// When Status or ConnectionState changed last; `None` where that isn't known.
    pub changed: Option<Timestamp>,
    /// Of each ink that has one (decision I2).
    pub forecast: Vec<InkForecast>,
}

impl BoardDevice {
    /// Whether it still reports (decision I3).
    #[must_use]
    pub fn reporting(&self, moment: Moment) -> Reporting {
        match &self.status {
            None => Reporting::NeverSeen,
            Some(status) if status.received < moment.silent_before => Reporting::Silent,
            Some(_) => Reporting::Current,
        }
    }

    /// Why it needs somebody.
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

    /// When the tank of an ink of its status will be empty (decision I2).
    #[must_use]
    pub fn empties_at(&self, ink: &RemainingInk) -> Option<Timestamp> {
        let of_ink =
            |forecast: &&InkForecast| forecast.name == ink.name && forecast.index.total_cmp(&ink.index).is_eq();
        self.forecast.iter().find(of_ink).map(|forecast| forecast.empties_at)
    }

    /// Where a list goes on after it.
    #[must_use]
    pub fn cursor(&self, sort: DeviceSort, moment: Moment) -> DeviceCursor {
        let attention = match sort {
            DeviceSort::Attention => self.attention(moment),
            DeviceSort::Name => Attention::Fine,
        };
        DeviceCursor { attention, name: self.name.clone(), guid: self.guid }
    }
}

/// Which devices to list: all that fit every condition. Retired ones never do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceFilter {
    /// `None` for all organizations.
    pub organization: Option<OrganizationId>,
    /// The last status is one of these; any if there are none.
    pub statuses: Vec<Status>,
    /// Whether the last status is too old. A device that never sent one isn't silent.
    pub silent: Option<bool>,
    /// Whether it ever sent a status.
    pub seen: Option<bool>,
    pub attention: Option<Attention>,
    /// The name holds this text, letters without case where the engine knows how.
    pub search: Option<String>,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceSort {
    /// By [`Attention`], then as by name.
    #[default]
    Attention,
    /// By name, then GUID.
    Name,
}

impl DeviceSort {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Name => "name",
        }
    }

    /// Reads [`DeviceSort::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Attention, Self::Name].into_iter().find(|sort| sort.as_str() == text)
    }
}

/// The place in a list after a device. It stays valid while devices come and go.
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
    /// Reads what `Display` writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut pieces = text.splitn(3, '.');
        let attention = Attention::parse(pieces.next()?)?;
        let guid = DeviceGuid::from(parse_guid(pieces.next()?)?);
        Some(Self { attention, name: pieces.next()?.to_owned(), guid })
    }
}

/// How many devices have one status and need somebody for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTally {
    pub attention: Attention,
    /// The last one; `None` for devices that never sent one.
    pub status: Option<Status>,
    pub devices: u64,
}

/// A forecast to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceForecast {
    pub organization: OrganizationId,
    pub device: DeviceGuid,
    /// When it was made.
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
    fn a_device_needs_somebody_for_the_most_urgent_reason() {
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
