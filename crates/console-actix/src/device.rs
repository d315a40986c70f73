//! One device: its status in full, its past as charts, its forecast and its timeline.

mod band;
mod lines;

use crate::devices::Device;
use crate::layout::{Layout, page, root};
use crate::link::link;
use crate::timeline::{EventRow, rows};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use band::Band;
use domain::device_board::DeviceBoardService;
use domain::device_history::InkUsage;
use domain::timeline::TimelineCursor;
use lines::Lines;
use operator_actix::authenticate::Caller;
use operator_actix::devices::guid_of;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use serde::Deserialize;
use std::time::Duration;

/// The periods of the charts: value in the query, hours, words.
const RANGES: [(&str, u64, &str); 3] = [("24h", 24, "24 hours"), ("7d", 7 * 24, "7 days"), ("30d", 30 * 24, "30 days")];

#[derive(Template)]
#[template(path = "device.html")]
struct DevicePage {
    layout: Layout,
    device: Device,
    /// Links to the periods: address, words, whether it is shown.
    ranges: Vec<(String, &'static str, bool)>,
    range: &'static str,
    band: Band,
    lines: Lines,
    events: Vec<EventRow>,
    /// The link to older events, or empty.
    older: String,
    /// Whether the newest events are shown.
    is_newest: bool,
    /// The link to the newest events.
    newest: String,
    /// This page, which asks for its own state again.
    again: String,
}

/// Which period the charts have.
#[derive(Deserialize)]
pub(crate) struct Range {
    #[serde(default)]
    range: String,
}

/// `GET /console/devices/{guid}`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    guid: Path<String>,
    range: Query<Range>,
    paged: Query<PageQuery>,
    devices: Data<DeviceBoardService>,
) -> Result<HttpResponse, Problem> {
    let guid = guid_of(&guid)?;
    let asked = paged.0.request(TimelineCursor::parse)?;
    let (value, hours, range) = RANGES.into_iter().find(|(value, ..)| *value == range.0.range).unwrap_or(RANGES[0]);
    let moment = devices.moment();
    let from = moment.now.minus(Duration::from_hours(hours));
    let device = devices.find(&caller.actor, guid).await?;
    let history = devices.history(&caller.actor, guid, Some(from), Some(moment.now)).await?;
    let events = devices.timeline(&caller.actor, guid, &asked).await?;
    let root = root(&request);
    let own = format!("{root}/devices/{guid}");
    let own_with = |range: &str, cursor: &str| link(&own, &[("range", range), ("cursor", cursor)]);
    let organization = device.organization.clone();
    let shown = DevicePage {
        layout: Layout::signed_in(&request, &device.name, "devices", &caller.signed_in),
        device: Device::of(device, moment, InkUsage::MAX_INKS),
        ranges: RANGES.map(|(one, _, words)| (own_with(one, ""), words, one == value)).into(),
        range,
        band: Band::of(&history),
        lines: Lines::of(&history),
        older: events.next.map(|next| own_with(value, &next.to_string())).unwrap_or_default(),
        events: rows(events.items, &root, organization.id, &organization.name),
        is_newest: asked.after.is_none(),
        newest: own_with(value, ""),
        again: own_with(value, &asked.after.map(|cursor| cursor.to_string()).unwrap_or_default()),
    };
    Ok(page(StatusCode::OK, &shown))
}
