//! A device in answers.

use crate::time::shown;
use domain::device_board::{BoardDevice, Moment};
use domain::device_history::InkForecast;
use domain::device_status::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Reporting};
use domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A registered device with its last status. What a silent device says is past (decision I3).
#[derive(Serialize, ToSchema)]
#[schema(as = Device)]
pub struct DeviceBody {
    guid: String,
    name: String,
    organization: String,
    /// Why it needs somebody: `error`, `offline`, `silent`, `low_ink`, or `fine`.
    attention: &'static str,
    /// Null if it never sent one, as all members of the status.
    status: Option<&'static str>,
    message: Option<String>,
    /// When the status was received.
    #[schema(format = DateTime)]
    received_at: Option<String>,
    /// How long ago that was; negative where the clocks of servers differ.
    age_seconds: Option<i64>,
    /// Whether the status is too old to be true now.
    is_silent: bool,
    /// When the status or the state of the connection changed last.
    #[schema(format = DateTime)]
    changed_at: Option<String>,
    /// Degrees Celsius.
    temperature: Option<f64>,
    /// `Online`, `Offline` or `Unstable`.
    connection_state: Option<&'static str>,
    connection_message: Option<String>,
    queue: Option<QueueBody>,
    inks: Vec<InkBody>,
}

/// The jobs that wait at a device.
#[derive(Serialize, ToSchema)]
#[schema(as = Queue)]
pub struct QueueBody {
    /// `length` in units, `area` in square units, or `sheets`.
    measure: &'static str,
    amount: f64,
}

/// An ink of a device.
#[derive(Serialize, ToSchema)]
#[schema(as = Ink)]
pub struct InkBody {
    /// Sequence index.
    index: f64,
    name: String,
    /// Millilitres; null if it isn't known.
    level: Option<f64>,
    /// Millilitres that the tank holds.
    max_level: f64,
    /// Millilitres that are used in a day; null without a forecast.
    per_day: Option<f64>,
    /// When the tank will be empty; null without a forecast.
    #[schema(format = DateTime)]
    empties_at: Option<String>,
}

impl DeviceBody {
    /// The device as it is at a moment.
    pub(crate) fn of(device: &BoardDevice, moment: Moment) -> Self {
        let BoardDevice { organization, guid, name, status, changed, forecast } = device;
        let status = status.as_ref();
        Self {
            guid: guid.to_string(),
            name: name.clone(),
            organization: organization.name.clone(),
            attention: device.attention(moment).as_str(),
            status: status.map(|status| status.status.as_str()),
            message: status.and_then(|status| status.message.clone()),
            received_at: status.map(|status| shown(status.received)),
            age_seconds: status.map(|status| age(status, moment.now)),
            is_silent: device.reporting(moment) == Reporting::Silent,
            changed_at: changed.map(shown),
            temperature: status.and_then(|status| status.temperature),
            connection_state: status.and_then(|status| status.connection_state).map(ConnectionState::as_str),
            connection_message: status.and_then(|status| status.connection_message.clone()),
            queue: status.map(|status| QueueBody::of(status.queue_length)),
            inks: status.map(|status| inks(&status.remaining_inks, forecast)).unwrap_or_default(),
        }
    }
}

impl QueueBody {
    #[expect(clippy::cast_precision_loss, reason = "numbers of JSON are doubles")]
    pub(crate) fn of(length: QueueLength) -> Self {
        let (measure, amount) = match length {
            QueueLength::Length(units) => ("length", units),
            QueueLength::Area(units) => ("area", units),
            QueueLength::Sheets(sheets) => ("sheets", sheets as f64),
        };
        Self { measure, amount }
    }
}

/// The inks, each with its forecast if there is one.
pub(crate) fn inks(inks: &[RemainingInk], forecast: &[InkForecast]) -> Vec<InkBody> {
    let ink = |ink: &RemainingInk| {
        let of_ink = |one: &&InkForecast| one.name == ink.name && one.index.total_cmp(&ink.index).is_eq();
        let forecast = forecast.iter().find(of_ink);
        InkBody {
            index: ink.index,
            name: ink.name.clone(),
            level: Some(ink.level).filter(|level| *level >= 0.0),
            max_level: ink.max_level,
            per_day: forecast.map(|forecast| forecast.per_day),
            empties_at: forecast.map(|forecast| shown(forecast.empties_at)),
        }
    };
    inks.iter().map(ink).collect()
}

/// Whole seconds since the receipt of a status.
fn age(status: &DeviceStatus, now: Timestamp) -> i64 {
    now.as_micros().saturating_sub(status.received.as_micros()).div_euclid(1_000_000)
}
