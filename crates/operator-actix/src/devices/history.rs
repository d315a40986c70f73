//! `GET /devices/{guid}/history` and `…/timeline`

use super::body::{InkBody, QueueBody, inks};
use super::guid_of;
use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use crate::time::{parse, shown};
use crate::timeline::TimelineBody;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::device_board::{DeviceBoardService, DeviceHistory};
use domain::device_history::{DeviceSample, StateChange};
use domain::device_status::ConnectionState;
use domain::operator::OperatorError;
use domain::timeline::TimelineCursor;
use domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The past of a device within a period (decision I1).
#[derive(Serialize, ToSchema)]
#[schema(as = DeviceHistory)]
pub(crate) struct HistoryBody {
    #[schema(format = DateTime)]
    from: String,
    #[schema(format = DateTime)]
    to: String,
    /// Oldest first; the first may have begun before the period.
    changes: Vec<ChangeBody>,
    /// Whether there are more changes than 5000: ask for a shorter period.
    is_cut: bool,
    /// Oldest first, at most 1000, evenly over the period.
    samples: Vec<SampleBody>,
}

/// The state of a device from a time on.
#[derive(Serialize, ToSchema)]
#[schema(as = StateChange)]
pub(crate) struct ChangeBody {
    #[schema(format = DateTime)]
    at: String,
    status: &'static str,
    message: Option<String>,
    connection_state: Option<&'static str>,
    connection_message: Option<String>,
}

/// What a device measured at a time.
#[derive(Serialize, ToSchema)]
#[schema(as = DeviceSample)]
pub(crate) struct SampleBody {
    #[schema(format = DateTime)]
    at: String,
    /// Degrees Celsius.
    temperature: Option<f64>,
    queue: QueueBody,
    inks: Vec<InkBody>,
}

impl From<DeviceHistory> for HistoryBody {
    fn from(history: DeviceHistory) -> Self {
        Self {
            from: shown(history.period.from),
            to: shown(history.period.to),
            changes: history.changes.into_iter().map(ChangeBody::from).collect(),
            is_cut: history.is_cut,
            samples: history.samples.into_iter().map(SampleBody::from).collect(),
        }
    }
}

impl From<StateChange> for ChangeBody {
    fn from(change: StateChange) -> Self {
        Self {
            at: shown(change.at),
            status: change.status.as_str(),
            message: change.message,
            connection_state: change.connection_state.map(ConnectionState::as_str),
            connection_message: change.connection_message,
        }
    }
}

impl From<DeviceSample> for SampleBody {
    fn from(sample: DeviceSample) -> Self {
        Self {
            at: shown(sample.at),
            temperature: sample.temperature,
            queue: QueueBody::of(sample.queue_length),
            inks: inks(&sample.remaining_inks, &[]),
        }
    }
}

/// Which period.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PeriodQuery {
    /// Inclusive; 24 hours before the end unless it is given.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Inclusive; now unless it is given.
    #[param(format = DateTime)]
    to: Option<String>,
}

/// The changes of a device's state and the samples of its inks, temperature and queue.
#[utoipa::path(get, path = "/devices/{guid}/history", operation_id = "get_device_history", tag = "Devices", params(("guid" = String, Path, description = "The GUID of the device."), PeriodQuery), responses((status = 200, description = "The history.", body = HistoryBody), Problems))]
pub(crate) async fn history(
    caller: Caller,
    guid: Path<String>,
    period: Query<PeriodQuery>,
    devices: Data<DeviceBoardService>,
) -> Result<HttpResponse, Problem> {
    let guid = guid_of(&guid)?;
    let (from, to) = (time("from", period.0.from)?, time("to", period.0.to)?);
    Ok(json(&HistoryBody::from(devices.history(&caller.actor, guid, from, to).await?)))
}

fn time(field: &'static str, text: Option<String>) -> Result<Option<Timestamp>, OperatorError> {
    text.filter(|text| !text.is_empty()).map(|text| parse(field, &text)).transpose()
}

/// What happened to a device, the newest first: changes of its state and log entries.
#[utoipa::path(get, path = "/devices/{guid}/timeline", operation_id = "get_device_timeline", tag = "Devices", params(("guid" = String, Path, description = "The GUID of the device."), PageQuery), responses((status = 200, description = "A page.", body = PageBody<TimelineBody>), Problems))]
pub(crate) async fn timeline(
    caller: Caller,
    guid: Path<String>,
    page: Query<PageQuery>,
    devices: Data<DeviceBoardService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(TimelineCursor::parse)?;
    let page = devices.timeline(&caller.actor, guid_of(&guid)?, &asked).await?;
    Ok(json(&PageBody::of(page, TimelineBody::from, |cursor| cursor.to_string())))
}
