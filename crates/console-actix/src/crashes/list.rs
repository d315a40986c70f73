//! The list of groups.

use super::badge;
use crate::choices::{organizations as organization_choices, words};
use crate::layout::{Layout, page};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::crash_group::{CrashGroupService, GroupCursor, ListedGroup};
use domain::operator::OrganizationList;
use operator_actix::authenticate::Caller;
use operator_actix::crash_groups::GroupsQuery;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::{Query, given};

#[derive(Template)]
#[template(path = "crashes.html")]
struct CrashesPage {
    layout: Layout,
    filters: Filters,
    /// Pairs of value and word; empty where the operator sees one organization only.
    organizations: Vec<(String, String)>,
    states: Vec<(String, String)>,
    sorts: Vec<(String, String)>,
    rows: Vec<Row>,
    /// The link to the next page; empty on the last one.
    next: String,
}

/// A group of the list.
struct Row {
    badge: (&'static str, &'static str),
    listed: ListedGroup,
}

impl From<ListedGroup> for Row {
    fn from(listed: ListedGroup) -> Self {
        Self { badge: badge(listed.details.group.state), listed }
    }
}

/// What is asked for, as the form shows it.
struct Filters {
    state: String,
    application: String,
    q: String,
    computer: String,
    sort: String,
    organization: String,
}

impl Filters {
    fn of(query: &GroupsQuery) -> Self {
        let text = |member: &Option<String>| given(member).unwrap_or_default().to_owned();
        Self {
            state: text(&query.state),
            application: text(&query.application),
            q: text(&query.q),
            computer: text(&query.computer),
            sort: text(&query.sort),
            organization: text(&query.organization),
        }
    }

    fn is_empty(&self) -> bool {
        let all = [&self.state, &self.application, &self.q, &self.computer, &self.organization];
        all.into_iter().all(String::is_empty)
    }

    fn link(&self, path: &str, cursor: &str) -> String {
        let members = [
            ("state", self.state.as_str()),
            ("application", &self.application),
            ("q", &self.q),
            ("computer", &self.computer),
            ("sort", &self.sort),
            ("organization", &self.organization),
            ("cursor", cursor),
        ];
        link(path, &members)
    }
}

/// `GET /console/crashes`
pub(crate) async fn list(
    request: HttpRequest,
    caller: Caller,
    query: Query<GroupsQuery>,
    asked: Query<PageQuery>,
    groups: Data<CrashGroupService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let asked = asked.0.request(GroupCursor::parse)?;
    let (filter, sort) = query.0.filter()?;
    let found = groups.list(&caller.actor, given(&query.0.organization), &filter, sort, asked).await?;
    let layout = Layout::signed_in(&request, "Crashes", "crashes", &caller.signed_in);
    let filters = Filters::of(&query.0);
    let path = format!("{}/crashes", layout.root);
    let next = found.next.map(|cursor| filters.link(&path, &cursor.to_string())).unwrap_or_default();
    let shown = CrashesPage {
        layout,
        filters,
        organizations: organization_choices(&caller, &organizations).await?,
        states: words([
            ("", "All"),
            ("new", "New"),
            ("regressed", "Regressed"),
            ("acknowledged", "Acknowledged"),
            ("resolved", "Resolved"),
        ]),
        sorts: words([("", "Last seen"), ("first_seen", "First seen"), ("reports", "Reports")]),
        rows: found.items.into_iter().map(Row::from).collect(),
        next,
    };
    Ok(page(StatusCode::OK, &shown))
}
