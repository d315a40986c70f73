//! `GET /devices` and below: the board of devices, and one device with its past.

pub mod body;
mod history;
pub mod query;

pub(crate) use history::{__path_history, __path_timeline, history, timeline};

use crate::authenticate::Caller;
use crate::devices::body::DeviceBody;
use crate::devices::query::DeviceQuery;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::device_board::{DeviceBoardService, DeviceCursor};
use domain::guid::DeviceGuid;
use domain::operator::{OperatorError, OrganizationList};

/// The devices that the operator sees: by need (in error, offline, silent, low on ink, then all others), or by name.
#[utoipa::path(get, path = "/devices", operation_id = "list_devices", tag = "Devices", params(DeviceQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<DeviceBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    query: Query<DeviceQuery>,
    page: Query<PageQuery>,
    devices: Data<DeviceBoardService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(DeviceCursor::parse)?;
    let (filter, sort) = query.0.read(&caller.actor, &organizations).await?;
    let moment = devices.moment();
    let page = devices.list(&caller.actor, filter, sort, moment, &asked).await?;
    Ok(json(&PageBody::of(page, |device| DeviceBody::of(&device, moment), |cursor| cursor.to_string())))
}

/// One device, with the forecast of this moment.
#[utoipa::path(get, path = "/devices/{guid}", operation_id = "get_device", tag = "Devices", params(("guid" = String, Path, description = "The GUID of the device.")), responses((status = 200, description = "The device.", body = DeviceBody), Problems))]
pub(crate) async fn find(
    caller: Caller,
    guid: Path<String>,
    devices: Data<DeviceBoardService>,
) -> Result<HttpResponse, Problem> {
    let device = devices.find(&caller.actor, guid_of(&guid)?).await?;
    Ok(json(&DeviceBody::of(&device, devices.moment())))
}

/// The GUID of a path (decision R7). A text that is none names no device.
///
/// # Errors
/// [`OperatorError::NotFound`]
pub fn guid_of(text: &str) -> Result<DeviceGuid, OperatorError> {
    DeviceGuid::parse(text).ok_or_else(|| OperatorError::NotFound("this device".to_owned()))
}
