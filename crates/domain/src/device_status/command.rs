//! What the JSON body of a status update says.

#[cfg(test)]
mod tests;

use super::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
use crate::detail::quoted_json;
use crate::error::{Failure, Outcome, Reason};
use crate::guid::DeviceGuid;
use crate::json::Json;
use crate::text::{is_blank, storable};
use crate::timestamp::Timestamp;

/// The member DeviceGUID as it was sent; it is checked before all else (decision D1).
pub(super) fn read_device(body: &Json) -> Outcome<String> {
    let missing = || Reason::DeviceGuidRequired.because("DeviceGUID is missing or blank");
    let value = body.member("DeviceGUID").ok_or_else(missing)?;
    let text = value.as_text().map_or_else(|| value.to_string(), str::to_owned);
    if is_blank(&text) { Err(missing()) } else { Ok(text) }
}

impl DeviceStatus {
    /// Reads all but the device (decisions D2–D4).
    pub(super) fn read(body: &Json, device: DeviceGuid, received: Timestamp) -> Outcome<Self> {
        let text = |name: &str| body.text_member(name).map(storable);
        Ok(Self {
            device,
            received,
            status: read_status(body)?,
            queue_length: QueueLength::read(body.member("QueueLength"))?,
            message: text("Message"),
            temperature: read_temperature(body)?,
            connection_state: read_connection_state(body)?,
            connection_message: text("ConnectionMessage"),
            remaining_inks: read_inks(body)?,
        })
    }
}

fn shown(value: Option<&Json>) -> String {
    value.map_or_else(|| "missing".to_owned(), quoted_json)
}

fn read_status(body: &Json) -> Outcome<Status> {
    let value = body.member("Status");
    let status = value.and_then(Json::as_text).and_then(Status::parse);
    status.ok_or_else(|| Reason::StatusInvalid.because(format!("Status is {}", shown(value))))
}

fn read_temperature(body: &Json) -> Outcome<Option<f64>> {
    let Some(value) = body.member("Temperature") else {
        return Ok(None);
    };
    let invalid = || Reason::TemperatureInvalid.because(format!("Temperature is {}", shown(Some(value))));
    value.as_number().map(Some).ok_or_else(invalid)
}

fn read_connection_state(body: &Json) -> Outcome<Option<ConnectionState>> {
    let Some(value) = body.member("ConnectionState") else {
        return Ok(None);
    };
    let invalid = || Reason::ConnectionStateInvalid.because(format!("ConnectionState is {}", shown(Some(value))));
    value.as_text().and_then(ConnectionState::parse).map(Some).ok_or_else(invalid)
}

/// Decision D4: a single object counts as an array of one.
fn read_inks(body: &Json) -> Outcome<Vec<RemainingInk>> {
    match body.member("RemainingInks") {
        None => Ok(Vec::new()),
        Some(Json::Array(inks)) => inks.iter().enumerate().map(|(place, ink)| RemainingInk::read(place, ink)).collect(),
        Some(ink @ Json::Object(_)) => Ok(vec![RemainingInk::read(0, ink)?]),
        other => Err(Reason::RemainingInksInvalid.because(format!("RemainingInks is {}", shown(other)))),
    }
}

impl RemainingInk {
    fn read(place: usize, ink: &Json) -> Outcome<Self> {
        let invalid = |name: &str| {
            let detail = format!("item {place} of RemainingInks: {name} is {}", shown(ink.member(name)));
            Reason::RemainingInksInvalid.because(detail)
        };
        let number = |name: &str| ink.member(name).and_then(Json::as_number).ok_or_else(|| invalid(name));
        let name = ink.text_member("InkName").filter(|name| !is_blank(name)).ok_or_else(|| invalid("InkName"))?;
        Ok(Self {
            index: number("InkIndex")?,
            name: storable(name),
            level: number("Level")?,
            max_level: number("MaxLevel")?,
        })
    }
}

impl QueueLength {
    /// Decision D3.
    fn read(value: Option<&Json>) -> Outcome<Self> {
        let invalid = |detail: &str| -> Failure { Reason::QueueLengthInvalid.because(format!("QueueLength {detail}")) };
        let Some(value @ Json::Object(_)) = value else {
            return Err(invalid(&format!("is {}", shown(value))));
        };
        let mut given = Vec::new();
        for name in ["Length", "Area", "Sheets"] {
            let Some(member) = value.member(name) else {
                continue;
            };
            let number =
                member.as_number().filter(|number| *number >= 0.0 && (name != "Sheets" || number.fract() == 0.0));
            let number = number.ok_or_else(|| invalid(&format!("has {name} {}", quoted_json(member))))?;
            // Negative zero is no negative number, but it is kept as zero.
            given.push((name, number.abs()));
        }
        let positive: Vec<_> = given.iter().filter(|(_, number)| *number > 0.0).collect();
        let (name, number) = match (&given[..], &positive[..]) {
            ([], _) => return Err(invalid("has none of its members")),
            ([only], _) => *only,
            (_, []) => ("Length", 0.0),
            (_, [only]) => **only,
            _ => return Err(invalid("has several positive members")),
        };
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
