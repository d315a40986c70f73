//! POST /api/v2/device/status: update the status of a device (interface 4.10).

#[cfg(test)]
mod tests;

use crate::answer::Message;
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::extract::json::{FromJson, Lenient, read_object};
use crate::extract::lenient_json::AnyTypeJson;
use crate::openapi::description::Description;
use crate::openapi::schema::{closed_object, filled, guid, list_of, named, number, object, text, whole_number, words};
use crate::run::run_to_completion;
use actix_web::web::Data;
use domain::device_status::{
    DeviceStatusService, QueueLengthInput, RemainingInkInput, StatusInput, StatusValues, UpdateDeviceStatus,
};
use domain::error::{Failure, Reason};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;

const UPDATED: &str = "Device status successfully updated";

pub(crate) async fn update(
    caller: Caller,
    body: AnyTypeJson<DeviceStatusBody>,
    device_statuses: Data<DeviceStatusService>,
) -> Result<Message<'static>, ApiError> {
    let command = UpdateDeviceStatus::try_from(body.0)?;
    run_to_completion(async move { device_statuses.update(&caller, command).await }).await?;
    Ok(Message::new(UPDATED))
}

/// A device status as clients send it (interface 2.8).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct DeviceStatusBody {
    #[serde(rename = "DeviceGUID")]
    device: Lenient<String>,
    status: Lenient<String>,
    message: Lenient<String>,
    temperature: Lenient<f64>,
    connection_state: Lenient<String>,
    connection_message: Lenient<String>,
    remaining_inks: Lenient<RemainingInksBody>,
    queue_length: Lenient<QueueLengthBody>,
}

/// A single object counts as an array of one (decision D4).
#[derive(Debug, Default)]
struct RemainingInksBody(Vec<Lenient<RemainingInkBody>>);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct RemainingInkBody {
    ink_index: Lenient<f64>,
    ink_name: Lenient<String>,
    level: Lenient<f64>,
    max_level: Lenient<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct QueueLengthBody {
    length: Lenient<f64>,
    area: Lenient<f64>,
    sheets: Lenient<f64>,
}

impl FromJson for RemainingInksBody {
    fn from_json(json: &RawValue) -> Option<Self> {
        let single = || RemainingInkBody::from_json(json).map(|ink| vec![Lenient::Value(ink)]);
        Vec::from_json(json).or_else(single).map(Self)
    }
}

impl FromJson for RemainingInkBody {
    fn from_json(json: &RawValue) -> Option<Self> {
        read_object(json)
    }
}

impl FromJson for QueueLengthBody {
    fn from_json(json: &RawValue) -> Option<Self> {
        read_object(json)
    }
}

impl TryFrom<DeviceStatusBody> for UpdateDeviceStatus {
    type Error = Failure;

    fn try_from(mut body: DeviceStatusBody) -> Result<Self, Failure> {
        // Whatever is no GUID is not found (decisions D1, R7).
        let device = std::mem::take(&mut body.device).or_json();
        Self::new(device, StatusInput::try_from(body).and_then(StatusValues::new))
    }
}

impl TryFrom<DeviceStatusBody> for StatusInput {
    type Error = Failure;

    fn try_from(body: DeviceStatusBody) -> Result<Self, Failure> {
        let queue_length = |json: &str| Reason::QueueLengthInvalid.because(format!("QueueLength is {json}"));
        let temperature = |json: &str| Reason::TemperatureInvalid.because(format!("Temperature is {json}"));
        let inks = |json: &str| Reason::RemainingInksInvalid.because(format!("RemainingInks is {json}"));
        Ok(Self {
            status: body.status.or_json(),
            queue_length: body.queue_length.or_refuse(queue_length)?.map(QueueLengthInput::try_from).transpose()?,
            message: body.message.or_absent(),
            temperature: or_blank(body.temperature).or_refuse(temperature)?,
            connection_state: body.connection_state.or_json(),
            connection_message: body.connection_message.or_absent(),
            remaining_inks: body
                .remaining_inks
                .or_refuse(inks)?
                .map(RemainingInksBody::read)
                .transpose()?
                .unwrap_or_default(),
        })
    }
}

/// Clients without a thermometer send an empty text.
fn or_blank(temperature: Lenient<f64>) -> Lenient<f64> {
    match temperature {
        Lenient::Other(json) if json.trim_matches('"').trim().is_empty() => Lenient::Absent,
        other => other,
    }
}

impl TryFrom<QueueLengthBody> for QueueLengthInput {
    type Error = Failure;

    fn try_from(body: QueueLengthBody) -> Result<Self, Failure> {
        let number = |number: Lenient<f64>, name: &str| {
            number.or_refuse(|json| Reason::QueueLengthInvalid.because(format!("QueueLength has {name} {json}")))
        };
        Ok(Self {
            length: number(body.length, "Length")?,
            area: number(body.area, "Area")?,
            sheets: number(body.sheets, "Sheets")?,
        })
    }
}

impl RemainingInksBody {
    fn read(self) -> Result<Vec<RemainingInkInput>, Failure> {
        let read = |(place, ink): (usize, Lenient<RemainingInkBody>)| {
            let refuse = |name: &str, json: &str| {
                let detail = format!("item {place} of RemainingInks: {name} is {json}");
                Reason::RemainingInksInvalid.because(detail)
            };
            let number = |number: Lenient<f64>, name: &str| number.or_refuse(|json| refuse(name, json));
            let ink = ink.or_absent().unwrap_or_default();
            Ok(RemainingInkInput {
                index: number(ink.ink_index, "InkIndex")?,
                name: ink.ink_name.or_refuse(|json| refuse("InkName", json))?,
                level: number(ink.level, "Level")?,
                max_level: number(ink.max_level, "MaxLevel")?,
            })
        };
        self.0.into_iter().enumerate().map(read).collect()
    }
}

pub(crate) fn description() -> Description {
    let about = "Replaces the last status of the device whole: what the new one omits is gone. No content type is asked \
                 for.";
    let words_of_status = ["Error", "Idle", "Offline", "Printing", "Aborting", "Sleeping", "Calibrating"];
    let status = object("")
        .property("DeviceGUID", guid("A registered device."))
        .property("Status", words(&words_of_status))
        .property("Message", text("For people."))
        .property("Temperature", number("Of the heater, in degrees Celsius."))
        .property("ConnectionState", words(&["Online", "Offline", "Unstable"]))
        .property("ConnectionMessage", text("For people."))
        .property("RemainingInks", list_of(named("RemainingInk")))
        .property("QueueLength", named("QueueLength"))
        .required("DeviceGUID")
        .required("Status")
        .required("QueueLength");
    Description::new("Update the status of a device", about)
        .json_body("DeviceStatus", status)
        .with_schema("RemainingInk", remaining_ink())
        .with_schema("QueueLength", queue_length())
        .answers_message(UPDATED)
        .refuses([
            Reason::NotProperlyFormatted,
            Reason::JsonInvalid,
            Reason::DeviceGuidRequired,
            Reason::DeviceNotFound,
            Reason::StatusInvalid,
            Reason::TemperatureInvalid,
            Reason::ConnectionStateInvalid,
            Reason::RemainingInksInvalid,
            Reason::QueueLengthInvalid,
        ])
}

fn remaining_ink() -> ObjectBuilder {
    let members = [
        ("InkIndex", number("Place of the ink in the sequence.")),
        ("InkName", filled("Name of the colour.")),
        ("Level", number("ml in the tank; below 0 it is unknown.")),
        ("MaxLevel", number("ml that the tank holds.")),
    ];
    members.into_iter().fold(object(""), |ink, (name, schema)| ink.property(name, schema).required(name))
}

fn queue_length() -> ObjectBuilder {
    closed_object("One of the three. Zeros beside a positive one count as absent.")
        .property("Length", number("Units, roll to roll.").minimum(Some(0)))
        .property("Area", number("Square units, rigid.").minimum(Some(0)))
        .property("Sheets", whole_number("Sheets, sheet-fed.").minimum(Some(0)).maximum(Some(1_i64 << 53)))
        .min_properties(Some(1))
        .max_properties(Some(1))
}
