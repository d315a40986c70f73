//! POST /api/v2/device/status: update the status of a device (interface 4.10).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::body::AnyTypeJson;
use crate::extract::json::{FromJson, Lenient, read_object};
use crate::openapi::responses::{Responses, refusals, words};
use crate::response::Message;
use crate::services::run_to_completion;
use actix_web::web::Data;
use domain::device_status::{
    ConnectionState, DeviceStatusService, QueueLengthInput, RemainingInkInput, Status, StatusInput, StatusValues,
    UpdateDeviceStatus,
};
use domain::error::{Failure, Reason};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{IntoResponses, ToSchema};

const UPDATED: &str = "Device status successfully updated";

/// Update the status of a device
///
/// Replaces the last status of the device whole: what the new one omits is gone. The content type doesn't matter.
#[utoipa::path(
    post,
    path = "/api/v2/device/status",
    tag = "Devices",
    request_body = DeviceStatusBody,
    responses((status = 200, description = UPDATED, body = String, content_type = "application/json"), Refusals)
)]
pub(crate) async fn update_device_status(
    caller: Caller,
    body: AnyTypeJson<DeviceStatusBody>,
    device_statuses: Data<DeviceStatusService>,
) -> Result<Message, ApiError> {
    let command = UpdateDeviceStatus::try_from(body.0)?;
    run_to_completion(async move { device_statuses.update(&caller, command).await }).await?;
    Ok(Message::Success(UPDATED))
}

/// The status of a device.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = DeviceStatus)]
pub(crate) struct DeviceStatusBody {
    /// A registered device.
    #[serde(rename = "DeviceGUID")]
    #[schema(value_type = String, format = "uuid")]
    device: Lenient<String>,
    #[schema(schema_with = statuses)]
    status: Lenient<String>,
    /// For people.
    #[schema(value_type = String, required = false)]
    message: Lenient<String>,
    /// Of the heater, in degrees Celsius.
    #[schema(value_type = f64, required = false)]
    temperature: Lenient<f64>,
    #[schema(schema_with = connection_states, required = false)]
    connection_state: Lenient<String>,
    /// For people.
    #[schema(value_type = String, required = false)]
    connection_message: Lenient<String>,
    #[schema(value_type = Vec<RemainingInkBody>, required = false)]
    remaining_inks: Lenient<RemainingInksBody>,
    #[schema(value_type = QueueLengthBody)]
    queue_length: Lenient<QueueLengthBody>,
}

fn statuses() -> ObjectBuilder {
    words("", &Status::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>())
}

fn connection_states() -> ObjectBuilder {
    words("", &ConnectionState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>())
}

/// A single object counts as an array of one (decision D4).
#[derive(Debug, Default)]
struct RemainingInksBody(Vec<Lenient<RemainingInkBody>>);

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = RemainingInk)]
struct RemainingInkBody {
    /// Position of the ink in the sequence.
    #[schema(value_type = f64)]
    ink_index: Lenient<f64>,
    /// Name of the colour.
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    ink_name: Lenient<String>,
    /// Millilitres in the tank; below 0 it is unknown.
    #[schema(value_type = f64)]
    level: Lenient<f64>,
    /// Millilitres that the tank holds.
    #[schema(value_type = f64)]
    max_level: Lenient<f64>,
}

/// One of the three. Zeros next to a positive one count as absent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = QueueLength, min_properties = 1, max_properties = 1)]
struct QueueLengthBody {
    /// Units, roll to roll.
    #[schema(value_type = f64, minimum = 0, required = false)]
    length: Lenient<f64>,
    /// Square units, rigid.
    #[schema(value_type = f64, minimum = 0, required = false)]
    area: Lenient<f64>,
    /// Sheets, sheet-fed.
    #[schema(value_type = u64, maximum = 9_007_199_254_740_992_i64, required = false)]
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
        let read = |(index, ink): (usize, Lenient<RemainingInkBody>)| {
            let refuse = |name: &str, json: &str| {
                let detail = format!("item {index} of RemainingInks: {name} is {json}");
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

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([
            Reason::BodyTooLarge,
            Reason::BodyTimedOut,
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
}
