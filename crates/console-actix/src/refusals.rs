//! Refused requests of clients: by reason with what to do, and each with its particulars.

use crate::layout::{Layout, page, root};
use crate::link::link;
use crate::logs::choices;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::guid::ComputerGuid;
use domain::operator::OrganizationList;
use domain::refusal::{
    Explanation, OperatorRefusal, ReasonCount, RefusalCursor, RefusalService, Refused, explanation, recorded_codes,
};
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use operator_actix::refusals::RefusalsQuery;
use std::time::Duration;

/// The time of which refusals are counted.
const COUNTED: Duration = Duration::from_hours(24);

#[derive(Template)]
#[template(path = "refusals.html")]
struct RefusalsPage {
    layout: Layout,
    filters: RefusalsQuery,
    organizations: Vec<(String, String)>,
    reasons: Vec<(&'static str, &'static str)>,
    counts: Vec<Count>,
    /// Of the one reason that is listed.
    asked: Option<Explanation>,
    refusals: Vec<Row>,
    next: String,
}

/// A reason with its refusals of the last day.
struct Count {
    counted: ReasonCount,
    explanation: Explanation,
    /// The refusals of this reason.
    link: String,
}

/// A refusal.
struct Row {
    refused: Refused,
    computer: Option<LinkedComputer>,
}

/// The computer that a refusal concerns.
struct LinkedComputer {
    guid: ComputerGuid,
    name: String,
    /// By its SerialNumber alone.
    is_probable: bool,
}

impl Row {
    fn of(one: OperatorRefusal) -> Self {
        let OperatorRefusal { refused, computer, probable_computer } = one;
        let named = computer.map(|computer| (computer.guid, computer.name));
        let known = named.or_else(|| refused.refusal.computer.map(|guid| (guid, guid.to_string())));
        let linked = |is_probable| move |(guid, name)| LinkedComputer { guid, name, is_probable };
        let probable = probable_computer.map(|computer| (computer.guid, computer.name));
        Self { computer: known.map(linked(false)).or_else(|| probable.map(linked(true))), refused }
    }
}

/// `GET /console/refusals`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    filters: Query<RefusalsQuery>,
    asked: Query<PageQuery>,
    refusals: Data<RefusalService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let filters = filters.0;
    let filter = filters.read(&caller, &organizations).await?;
    let asked = asked.0.request(RefusalCursor::parse)?;
    let path = format!("{}/refusals", root(&request));
    let of = |reason: &str, cursor: &str| {
        let given = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let (organization, computer, since) =
            (given(&filters.organization), given(&filters.computer), given(&filters.since));
        let members = [
            ("organization", organization.as_str()),
            ("reason", reason),
            ("computer", &computer),
            ("since", &since),
            ("cursor", cursor),
        ];
        link(&path, &members)
    };
    let counts = refusals.count(&caller.actor, filter.organization, COUNTED).await?;
    let count = |counted: ReasonCount| Count {
        explanation: explanation(&counted.reason),
        link: of(&counted.reason, ""),
        counted,
    };
    let reason = filter.reason.clone();
    let found = refusals.list(&caller.actor, filter, asked).await?;
    let next = found.next.map(|next| of(reason.as_deref().unwrap_or_default(), &next.to_string()));
    let codes = recorded_codes().into_iter().map(|code| (code, code));
    let shown = RefusalsPage {
        layout: Layout::signed_in(&request, "Refusals", "refusals", &caller.signed_in),
        organizations: choices(&caller, &organizations).await?,
        reasons: [("", "All reasons")].into_iter().chain(codes).collect(),
        counts: counts.into_iter().map(count).collect(),
        asked: reason.as_deref().map(explanation),
        refusals: found.items.into_iter().map(Row::of).collect(),
        next: next.unwrap_or_default(),
        filters,
    };
    Ok(page(StatusCode::OK, &shown))
}
