//! The board of devices: cards or a table, at choice.

mod shown;

pub(crate) use shown::{Device, state};

use crate::choices;
use crate::layout::{Layout, page, root};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::device_board::{DeviceBoardService, DeviceCursor};
use domain::operator::OrganizationList;
use operator_actix::authenticate::Caller;
use operator_actix::devices::query::DeviceQuery;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use serde::Deserialize;

/// Inks of one device that a card shows.
const MOST_INKS: usize = 16;

#[derive(Template)]
#[template(path = "devices.html")]
struct DevicesPage {
    layout: Layout,
    query: DeviceQuery,
    /// Pairs of value and word; empty for an operator of one organization.
    organizations: Vec<(String, String)>,
    devices: Vec<Device>,
    is_table: bool,
    is_filtered: bool,
    /// This very list, which the page asks for again.
    again: String,
    cards: String,
    table: String,
    /// The link without filters.
    all: String,
    /// The link to the next page, or empty.
    next: String,
}

impl DevicesPage {
    const STATUSES: [(&str, &str); 8] = [
        ("", "Any"),
        ("Error", "Error"),
        ("Offline", "Offline"),
        ("Printing", "Printing"),
        ("Idle", "Idle"),
        ("Calibrating", "Calibrating"),
        ("Aborting", "Aborting"),
        ("Sleeping", "Sleeping"),
    ];
    const NEEDS: [(&str, &str); 6] = [
        ("", "Any"),
        ("error", "In error"),
        ("offline", "Offline"),
        ("silent", "Silent"),
        ("low_ink", "Low on ink"),
        ("fine", "Fine"),
    ];
    const SORTS: [(&str, &str); 2] = [("", "Who needs somebody"), ("name", "Name")];
}

/// How the list is shown.
#[derive(Deserialize)]
pub(crate) struct View {
    #[serde(default)]
    view: String,
}

/// `GET /console/devices`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    query: Query<DeviceQuery>,
    view: Query<View>,
    paged: Query<PageQuery>,
    devices: Data<DeviceBoardService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let (query, is_table) = (query.0, view.0.view == "table");
    let asked = paged.0.request(DeviceCursor::parse)?;
    let (filter, sort) = query.read(&caller.actor, &organizations).await?;
    let moment = devices.moment();
    let found = devices.list(&caller.actor, filter, sort, moment, &asked).await?;
    let root = format!("{}/devices", root(&request));
    let shown_as = |view: &str, cursor: &str| {
        let members = members(&query).into_iter().chain([("view", view), ("cursor", cursor)]);
        link(&root, &members.collect::<Vec<_>>())
    };
    let view = if is_table { "table" } else { "" };
    let next = found.next.map(|cursor| shown_as(view, &cursor.to_string())).unwrap_or_default();
    let shown = DevicesPage {
        layout: Layout::signed_in(&request, "Devices", "devices", &caller.signed_in),
        organizations: choices::organizations(&caller, &organizations).await?,
        devices: found.items.into_iter().map(|device| Device::of(device, moment, MOST_INKS)).collect(),
        is_table,
        is_filtered: members(&query).iter().any(|(name, value)| *name != "sort" && !value.is_empty()),
        again: shown_as(view, &asked.after.map(|cursor| cursor.to_string()).unwrap_or_default()),
        cards: shown_as("", ""),
        table: shown_as("table", ""),
        all: link(&root, &[("view", view)]),
        next,
        query,
    };
    Ok(page(StatusCode::OK, &shown))
}

fn members(query: &DeviceQuery) -> [(&str, &str); 7] {
    [
        ("organization", &query.organization),
        ("status", &query.status),
        ("silent", &query.silent),
        ("seen", &query.seen),
        ("attention", &query.attention),
        ("q", &query.q),
        ("sort", &query.sort),
    ]
}
