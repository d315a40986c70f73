//! Search: what a GUID, a SerialNumber, a name or an id is.

use crate::layout::{Layout, page};
use crate::link::{encoded, link};
use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::search::{FoundThing, MAX_HITS, SearchService, Thing};
use domain::timestamp::Timestamp;
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::query::Query;
use serde::Deserialize;
use std::collections::HashMap;

/// What is searched for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchQuery {
    q: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    layout: Layout,
    q: String,
    rows: Vec<Row>,
    /// Whether there may be more of a kind than the page shows.
    is_cut: bool,
}

/// Something that was found.
struct Row {
    kind: &'static str,
    name: String,
    /// Empty for what has only a name.
    id: String,
    organization: String,
    is_removed: bool,
    /// More about it; may be empty.
    text: String,
    at: Option<Timestamp>,
    /// Where it leads; empty for what has no page.
    link: String,
}

/// `GET /console/search`: one thing that has a page is shown at once.
pub(crate) async fn find(
    request: HttpRequest,
    caller: Caller,
    query: Query<SearchQuery>,
    search: Data<SearchService>,
) -> Result<HttpResponse, Problem> {
    let q = query.0.q.trim().to_owned();
    let found = search.find(&caller.actor, &q).await?;
    let layout = Layout::signed_in(&request, "Search", "-", &caller.signed_in);
    let rows: Vec<Row> = found.into_iter().map(|found| row(&layout.root, found)).collect();
    if let [only] = &rows[..]
        && !only.link.is_empty()
    {
        return Ok(HttpResponse::SeeOther().insert_header((LOCATION, only.link.as_str())).finish());
    }
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for row in &rows {
        *counts.entry(row.kind).or_default() += 1;
    }
    let is_cut = counts.values().any(|count| *count >= MAX_HITS);
    Ok(page(StatusCode::OK, &SearchPage { layout, q, rows, is_cut }))
}

fn row(root: &str, FoundThing { organization, hit }: FoundThing) -> Row {
    let owner = organization.unwrap_or_default();
    let (link, text, at) = match &hit.thing {
        Thing::Organization { name } => {
            (link(&format!("{root}/devices"), &[("organization", name)]), String::new(), None)
        }
        Thing::User { name } => {
            (link(&format!("{root}/computers"), &[("q", name), ("organization", &owner)]), String::new(), None)
        }
        Thing::Computer { guid, serial_number, .. } => {
            let serial = serial_number.as_ref().map(|serial| format!("SerialNumber {serial}"));
            (format!("{root}/computers/{guid}"), serial.unwrap_or_default(), None)
        }
        Thing::Device { guid, .. } => (format!("{root}/devices/{guid}"), String::new(), None),
        Thing::Queue { device, .. } => {
            let link = device.map(|device| format!("{root}/devices/{device}")).unwrap_or_default();
            (link, "leads to its device".to_owned(), None)
        }
        Thing::Job { queue, .. } => {
            let text = queue.map(|queue| format!("of the queue {queue}")).unwrap_or_default();
            (String::new(), text, None)
        }
        Thing::Resource { guid, .. } => (format!("{root}/resources/{}/{guid}", encoded(&owner)), String::new(), None),
        Thing::CrashReport { id, received, .. } => {
            (format!("{root}/crash-reports/{id}"), String::new(), Some(*received))
        }
        Thing::CrashGroup { id, .. } => (format!("{root}/crashes/{id}"), String::new(), None),
        Thing::Refusal { at, operation, status, reason, .. } => {
            (String::new(), format!("{operation}: {status} {reason}"), Some(*at))
        }
    };
    Row {
        kind: word(&hit.thing),
        name: hit.thing.name().to_owned(),
        id: hit.thing.id().unwrap_or_default(),
        organization: owner,
        is_removed: hit.is_retired,
        text,
        at,
        link,
    }
}

fn word(thing: &Thing) -> &'static str {
    match thing {
        Thing::Organization { .. } => "Organization",
        Thing::User { .. } => "User",
        Thing::Computer { .. } => "Computer",
        Thing::Device { .. } => "Device",
        Thing::Queue { .. } => "Queue",
        Thing::Job { .. } => "Job",
        Thing::Resource { .. } => "Resource",
        Thing::CrashReport { .. } => "Crash report",
        Thing::CrashGroup { .. } => "Crash",
        Thing::Refusal { .. } => "Refused request",
    }
}
