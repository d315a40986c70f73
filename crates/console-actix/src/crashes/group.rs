//! A group with its reports, and the form that changes its state.

use super::badge;
use crate::form::{FieldErrors, Form};
use crate::layout::{Layout, page, root};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::crash_group::{
    CrashGroup, CrashGroupId, CrashGroupService, FoundGroup, GroupState, GroupVersion, ListedGroup, StateChange, Tally,
    TallyKind,
};
use domain::crash_report::{CrashReport, CrashReportReader, ListedReport, Os, ReportCursor, ReportFilter};
use domain::inspection::PartsTotal;
use domain::operator::{OperatorError, Role};
use domain::page::Page;
use operator_actix::authenticate::Caller;
use operator_actix::crash_groups::group_id;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use serde::Deserialize;

/// Values of each kind that the page shows.
const MAX_VALUES: usize = 12;

#[derive(Template)]
#[template(path = "crash_group.html")]
struct GroupPage {
    layout: Layout,
    organization: String,
    group: CrashGroup,
    badge: (&'static str, &'static str),
    daily: Vec<u64>,
    versions: Values,
    computers: Values,
    systems: Values,
    reports: Vec<ReportRow>,
    /// Whether these are the newest reports.
    is_first: bool,
    /// The link to the next page of reports; empty on the last one.
    next: String,
    form: StateForm,
    errors: FieldErrors,
    /// Whether the operator may change the state.
    is_admin: bool,
    /// What was done before; empty if nothing was.
    message: &'static str,
    /// Whether somebody else was faster.
    is_stale: bool,
}

/// A report of the list.
struct ReportRow {
    report: CrashReport<PartsTotal>,
    system: &'static str,
}

impl From<ListedReport> for ReportRow {
    fn from(listed: ListedReport) -> Self {
        let report = listed.archived.report;
        Self { system: Os::parse(report.os.as_deref()).as_str(), report }
    }
}

/// What is counted of one kind.
struct Values {
    shown: Vec<Tally>,
    /// How many there are in all.
    all: u64,
}

impl Values {
    fn of(tallies: &[Tally], kind: TallyKind, all: u64) -> Self {
        let own = tallies.iter().filter(|tally| tally.kind == kind).take(MAX_VALUES);
        Self { shown: own.cloned().collect(), all }
    }

    fn more(&self) -> u64 {
        self.all.saturating_sub(self.shown.len() as u64)
    }
}

/// What happened before.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Done {
    done: String,
}

/// The form as it was sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StateForm {
    state: String,
    resolved_in: String,
    /// The version of the group that the person saw.
    version: String,
}

impl StateForm {
    /// The form for what the group is.
    fn of(group: &CrashGroup) -> Self {
        // A group that has regressed is changed to one of the other states.
        let state = if group.state == GroupState::Regressed { GroupState::New } else { group.state };
        Self {
            state: state.as_str().to_owned(),
            resolved_in: group.resolved_in.clone().unwrap_or_default(),
            version: group.version().to_string(),
        }
    }

    /// The version of the form counts for a group that is resolved only.
    fn change(&self) -> Result<StateChange, OperatorError> {
        let version = (self.state == GroupState::Resolved.as_str()).then_some(self.resolved_in.as_str());
        StateChange::parse(&self.state, version)
    }
}

/// `GET /console/crashes/{id}`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
    done: Query<Done>,
    asked: Query<PageQuery>,
    services: (Data<CrashGroupService>, Data<CrashReportReader>),
) -> Result<HttpResponse, Problem> {
    let found = services.0.find(&caller.actor, group_id(&id)?).await?;
    let form = StateForm::of(&found.listed.details.group);
    let is_first = asked.0.cursor.is_none();
    let reports = reports(&caller, found.listed.details.group.id, &asked.0, &services.1).await?;
    let mut shown = group_page(&request, &caller, found, reports, form);
    shown.is_first = is_first;
    if done.0.done == "state" {
        shown.message = "The state is changed.";
    }
    Ok(page(StatusCode::OK, &shown))
}

/// `POST /console/crashes/{id}`
pub(crate) async fn change(
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
    form: Form<StateForm>,
    services: (Data<CrashGroupService>, Data<CrashReportReader>),
) -> Result<HttpResponse, Problem> {
    let (id, form, mut errors) = (group_id(&id)?, form.0, FieldErrors::default());
    let expected = [GroupVersion::from_text(form.version.as_str())];
    let changed = match form.change() {
        Ok(change) => services.0.change(&caller.actor, id, change, Some(&expected)).await.map(drop),
        Err(error) => Err(error),
    };
    let status = match changed {
        Ok(()) => {
            let location = format!("{}/crashes/{id}?done=state", root(&request));
            return Ok(HttpResponse::SeeOther().insert_header((LOCATION, location)).finish());
        }
        Err(OperatorError::Stale(_)) => StatusCode::PRECONDITION_FAILED,
        Err(OperatorError::Invalid { field, message }) => {
            errors.add(field, message);
            StatusCode::BAD_REQUEST
        }
        Err(error) => return Err(error.into()),
    };
    let found = services.0.find(&caller.actor, id).await?;
    let reports = reports(&caller, id, &PageQuery::default(), &services.1).await?;
    // What was typed stays; the version is that of what the page shows now.
    let form = StateForm { version: found.listed.details.group.version().to_string(), ..form };
    let mut shown = group_page(&request, &caller, found, reports, form);
    (shown.errors, shown.is_stale) = (errors, status == StatusCode::PRECONDITION_FAILED);
    Ok(page(status, &shown))
}

async fn reports(
    caller: &Caller,
    group: CrashGroupId,
    asked: &PageQuery,
    reports: &CrashReportReader,
) -> Result<Page<ListedReport, ReportCursor>, Problem> {
    let filter = ReportFilter { group: Some(group), ..ReportFilter::default() };
    Ok(reports.list(&caller.actor, None, &filter, asked.request(ReportCursor::parse)?).await?)
}

fn group_page(
    request: &HttpRequest,
    caller: &Caller,
    found: FoundGroup,
    reports: Page<ListedReport, ReportCursor>,
    form: StateForm,
) -> GroupPage {
    let ListedGroup { organization, details, daily } = found.listed;
    let layout = Layout::signed_in(request, "Crash", "crashes", &caller.signed_in);
    let path = format!("{}/crashes/{}", layout.root, details.group.id);
    let next = reports.next.map(|cursor| link(&path, &[("cursor", &cursor.to_string())])).unwrap_or_default();
    let values = |kind, all| Values::of(&found.tallies, kind, all);
    GroupPage {
        layout,
        organization,
        daily,
        versions: values(TallyKind::Version, details.versions),
        computers: values(TallyKind::Computer, details.computers),
        systems: values(TallyKind::OperatingSystem, details.operating_systems),
        badge: badge(details.group.state),
        group: details.group,
        reports: reports.items.into_iter().map(ReportRow::from).collect(),
        is_first: true,
        next,
        form,
        errors: FieldErrors::default(),
        is_admin: caller.actor.role == Role::Admin,
        message: "",
        is_stale: false,
    }
}
