//! The typed command of a status update, which can only be built right.

#[cfg(test)]
mod tests;

use super::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
use crate::detail::quoted;
use crate::error::{Failure, Outcome, Reason};
use crate::guid::DeviceGuid;
use crate::text::{is_blank, storable};
use crate::timestamp::Timestamp;

/// Replaces the status of a device (interface 4.10).
#[derive(Debug)]
pub struct UpdateDeviceStatus {
    /// A GUID as it was sent.
    pub(super) device: String,
    pub(super) values: Outcome<StatusValues>,
}

impl UpdateDeviceStatus {
    /// What is wrong with `values` is answered only after the device was found (decision D1).
    ///
    /// # Errors
    /// [`Reason::DeviceGuidRequired`].
    pub fn new(device: Option<String>, values: Outcome<StatusValues>) -> Outcome<Self> {
        let device = device.filter(|device| !is_blank(device));
        let device = device.ok_or_else(|| Reason::DeviceGuidRequired.because("DeviceGUID is missing or blank"))?;
        Ok(Self { device, values })
    }
}

/// The members of a status as they were sent (interface 2.8).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusInput {
    pub status: Option<String>,
    pub message: Option<String>,
    /// Degrees Celsius.
    pub temperature: Option<f64>,
    pub connection_state: Option<String>,
    pub connection_message: Option<String>,
    pub remaining_inks: Vec<RemainingInkInput>,
    pub queue_length: Option<QueueLengthInput>,
}

/// The members of an ink as they were sent (interface 2.8).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemainingInkInput {
    pub index: Option<f64>,
    pub name: Option<String>,
    /// Millilitres.
    pub level: Option<f64>,
    /// Millilitres.
    pub max_level: Option<f64>,
}

/// The members of QueueLength as they were sent (interface 2.8).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueueLengthInput {
    pub length: Option<f64>,
    pub area: Option<f64>,
    pub sheets: Option<f64>,
}

/// All of a status but its device and its time of receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusValues {
    status: Status,
    message: Option<String>,
    temperature: Option<f64>,
    connection_state: Option<ConnectionState>,
    connection_message: Option<String>,
    remaining_inks: Vec<RemainingInk>,
    queue_length: QueueLength,
}

impl StatusValues {
    /// Decisions D2 to D4.
    ///
    /// # Errors
    /// [`Reason::StatusInvalid`], [`Reason::QueueLengthInvalid`], [`Reason::TemperatureInvalid`],
    /// [`Reason::ConnectionStateInvalid`] and [`Reason::RemainingInksInvalid`], in this order.
    pub fn new(input: StatusInput) -> Outcome<Self> {
        let text = |text: Option<String>| text.map(|text| storable(&text));
        Ok(Self {
            status: read_status(input.status.as_deref())?,
            queue_length: QueueLength::new(input.queue_length)?,
            message: text(input.message),
            temperature: read_temperature(input.temperature)?,
            connection_state: input.connection_state.as_deref().map(read_connection_state).transpose()?,
            connection_message: text(input.connection_message),
            remaining_inks: input
                .remaining_inks
                .into_iter()
                .enumerate()
                .map(|(place, ink)| RemainingInk::new(place, ink))
                .collect::<Outcome<_>>()?,
        })
    }

    pub(super) fn into_status(self, device: DeviceGuid, received: Timestamp) -> DeviceStatus {
        let Self { status, message, temperature, connection_state, connection_message, remaining_inks, queue_length } =
            self;
        DeviceStatus {
            device,
            received,
            status,
            message,
            temperature,
            connection_state,
            connection_message,
            remaining_inks,
            queue_length,
        }
    }
}

fn read_status(text: Option<&str>) -> Outcome<Status> {
    let invalid = |shown: &str| Reason::StatusInvalid.because(format!("Status is {shown}"));
    let text = text.ok_or_else(|| invalid("missing"))?;
    Status::parse(text).ok_or_else(|| invalid(&quoted(text)))
}

fn read_temperature(degrees: Option<f64>) -> Outcome<Option<f64>> {
    match degrees {
        Some(degrees) if !degrees.is_finite() => {
            Err(Reason::TemperatureInvalid.because(format!("Temperature is {degrees}")))
        }
        _ => Ok(degrees),
    }
}

fn read_connection_state(text: &str) -> Outcome<ConnectionState> {
    let invalid = || Reason::ConnectionStateInvalid.because(format!("ConnectionState is {}", quoted(text)));
    ConnectionState::parse(text).ok_or_else(invalid)
}

impl RemainingInk {
    /// Decision D4. A name that is empty is kept: the level counts more.
    fn new(place: usize, input: RemainingInkInput) -> Outcome<Self> {
        let invalid = |name: &str| {
            let detail = format!("item {place} of RemainingInks: {name} is missing or of the wrong type");
            Reason::RemainingInksInvalid.because(detail)
        };
        let number =
            |number: Option<f64>, name| number.filter(|number| number.is_finite()).ok_or_else(|| invalid(name));
        let name = input.name.ok_or_else(|| invalid("InkName"))?;
        Ok(Self {
            index: number(input.index, "InkIndex")?,
            name: storable(&name),
            level: number(input.level, "Level")?,
            max_level: number(input.max_level, "MaxLevel")?,
        })
    }
}

impl QueueLength {
    /// Decision D3.
    fn new(input: Option<QueueLengthInput>) -> Outcome<Self> {
        let invalid = |detail: &str| -> Failure { Reason::QueueLengthInvalid.because(format!("QueueLength {detail}")) };
        let QueueLengthInput { length, area, sheets } = input.ok_or_else(|| invalid("is missing"))?;
        let sent = [("Length", length), ("Area", area), ("Sheets", sheets)];
        let given: Vec<(&str, f64)> = sent.into_iter().filter_map(|(name, number)| Some((name, number?))).collect();
        for (name, number) in &given {
            let is_measure = number.is_finite() && *number >= 0.0 && (*name != "Sheets" || number.fract() == 0.0);
            if !is_measure {
                return Err(invalid(&format!("has {name} {number}")));
            }
        }
        let positive: Vec<_> = given.iter().filter(|(_, number)| *number > 0.0).collect();
        let (name, number) = match (&given[..], &positive[..]) {
            ([], _) => return Err(invalid("has none of its members")),
            ([only], _) => *only,
            (_, []) => ("Length", 0.0),
            (_, [only]) => **only,
            _ => return Err(invalid("has several positive members")),
        };
        // Negative zero is no negative number, but it is kept as zero.
        let number = number.abs();
        Ok(match name {
            "Length" => Self::Length(number),
            "Area" => Self::Area(number),
            _ => Self::Sheets(whole(number).ok_or_else(|| invalid("has more Sheets than can be counted"))?),
        })
    }
}

/// A whole number that is exact in a double.
fn whole(number: f64) -> Option<u64> {
    format!("{number:.0}").parse().ok().filter(|whole| *whole <= 1 << 53)
}
