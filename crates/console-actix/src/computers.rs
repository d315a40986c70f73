//! Computers: the list, and one computer with its timeline.

use crate::choices::{organizations as organization_choices, words};
use crate::crashes::badge;
use crate::layout::{Layout, page};
use crate::link::{encoded, link};
use crate::timeline::{EventRow, rows};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::activity::OutdatedResource;
use domain::computer::{ComputerCursor, ComputerFilter, ComputerRecord, ComputerService, ListedComputer};
use domain::crash_group::CrashGroup;
use domain::operator::{OperatorError, OrganizationList};
use domain::refusal::Refused;
use domain::timeline::TimelineCursor;
use domain::timestamp::Timestamp;
use http_actix::Settings as HttpSettings;
use operator_actix::authenticate::Caller;
use operator_actix::computers::computer_guid;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::{Query, given, searched};
use serde::Deserialize;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);

/// The filters; an empty one is none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    q: String,
    organization: String,
    /// A time, or `1d`, `7d`, `30d` before now.
    seen_since: String,
}

impl ListQuery {
    fn filter(&self, now: Timestamp) -> Result<ComputerFilter, OperatorError> {
        let since = match self.seen_since.trim() {
            "" => None,
            "1d" => Some(now.minus(DAY)),
            "7d" => Some(now.minus(DAY * 7)),
            "30d" => Some(now.minus(DAY * 30)),
            text => {
                let malformed = || OperatorError::invalid("seen_since", "must be a time such as 2026-05-04T07:00:00Z");
                Some(Timestamp::parse(text).ok_or_else(malformed)?)
            }
        };
        let search = Some(searched(self.q.trim())).filter(|text| !text.is_empty());
        Ok(ComputerFilter { search, seen_since: since })
    }

    fn is_empty(&self) -> bool {
        [&self.q, &self.organization, &self.seen_since].into_iter().all(String::is_empty)
    }
}

#[derive(Template)]
#[template(path = "computers.html")]
struct ComputersPage {
    layout: Layout,
    query: ListQuery,
    /// Pairs of value and word; empty where the operator sees one organization only.
    organizations: Vec<(String, String)>,
    periods: Vec<(String, String)>,
    rows: Vec<ListedComputer>,
    /// The link to the next page; empty on the last one.
    next: String,
}

#[derive(Template)]
#[template(path = "computer.html")]
struct ComputerPage {
    layout: Layout,
    /// The path of this page.
    path: String,
    organization: String,
    computer: ComputerRecord,
    refusals: Vec<Refused>,
    outdated: Vec<OutdatedRow>,
    groups: Vec<GroupRow>,
    events: Vec<EventRow>,
    /// Whether these are the newest events.
    is_first: bool,
    /// The link to older events; empty where there are none.
    older: String,
}

/// A resource of which the computer has an older content.
struct OutdatedRow {
    outdated: OutdatedResource,
    /// Where it leads; empty for a resource of a publisher.
    link: String,
}

/// A group with a crash report of the computer.
struct GroupRow {
    badge: (&'static str, &'static str),
    group: CrashGroup,
}

/// `GET /console/computers`
pub(crate) async fn list(
    request: HttpRequest,
    caller: Caller,
    query: Query<ListQuery>,
    asked: Query<PageQuery>,
    computers: Data<ComputerService>,
    organizations: Data<OrganizationList>,
    http: Data<HttpSettings>,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let asked = asked.0.request(ComputerCursor::parse)?;
    let filter = query.filter(http.clock.now())?;
    let organization = Some(query.organization.clone());
    let found = computers.list(&caller.actor, given(&organization), &filter, asked).await?;
    let layout = Layout::signed_in(&request, "Computers", "computers", &caller.signed_in);
    let next = |cursor: ComputerCursor| {
        let members = [
            ("q", query.q.as_str()),
            ("organization", &query.organization),
            ("seen_since", &query.seen_since),
            ("cursor", &cursor.to_string()),
        ];
        link(&format!("{}/computers", layout.root), &members)
    };
    let shown = ComputersPage {
        next: found.next.map(next).unwrap_or_default(),
        layout,
        query,
        organizations: organization_choices(&caller, &organizations).await?,
        periods: words([("", "Any time"), ("1d", "Last 24 hours"), ("7d", "Last 7 days"), ("30d", "Last 30 days")]),
        rows: found.items,
    };
    Ok(page(StatusCode::OK, &shown))
}

/// `GET /console/computers/{guid}`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    guid: Path<String>,
    asked: Query<PageQuery>,
    computers: Data<ComputerService>,
) -> Result<HttpResponse, Problem> {
    let guid = computer_guid(&guid)?;
    let is_first = asked.0.cursor.is_none();
    let timeline = computers.timeline(&caller.actor, guid, asked.0.request(TimelineCursor::parse)?).await?;
    let found = computers.find(&caller.actor, guid).await?;
    let layout = Layout::signed_in(&request, "Computer", "computers", &caller.signed_in);
    let ListedComputer { organization, computer } = found.listed;
    let path = format!("{}/computers/{guid}", layout.root);
    let outdated = |outdated: OutdatedResource| {
        let key = outdated.resource;
        let is_own = key.organization == computer.organization;
        let own = || format!("{}/resources/{}/{}", layout.root, encoded(&organization), key.guid);
        OutdatedRow { link: if is_own { own() } else { String::new() }, outdated }
    };
    let outdated = found.outdated.into_iter().map(outdated).collect();
    let older = timeline.next.map(|cursor| link(&path, &[("cursor", &cursor.to_string())])).unwrap_or_default();
    let shown = ComputerPage {
        events: rows(timeline.items, &layout.root, computer.organization, &organization),
        older,
        path,
        layout,
        organization,
        computer,
        refusals: found.refusals,
        outdated,
        groups: found
            .groups
            .into_iter()
            .map(|found| GroupRow { badge: badge(found.group.state), group: found.group })
            .collect(),
        is_first,
    };
    Ok(page(StatusCode::OK, &shown))
}
