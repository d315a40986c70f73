//! The log: filtered lists that grow while one scrolls, what arrives, and downloads.

use crate::layout::{Layout, page, root};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::inspection::InspectedLogEntry;
use domain::log_entry::{LogCursor, LogNumber};
use domain::operator::{OperatorError, OrganizationList};
use domain::operator_log::{LogQuery, OperatorLogEntry, OperatorLogService};
use domain::page::PageRequest;
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::logs::{Export, LiveLog, LogEvent, LogsQuery, Start, exported, stream};
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use serde::Deserialize;

/// Lines that a page holds at most; then a link leads on.
const MAX_LINES: usize = 2_000;

/// Characters of a description that are shown at once.
const FIRST_CHARACTERS: usize = 300;

/// Characters of a description that are shown when it is opened; downloads have all of it.
const MAX_CHARACTERS: usize = 10_000;

const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");

/// How the log is shown.
#[derive(Deserialize)]
pub(crate) struct View {
    /// Not empty: entries appear as they arrive.
    #[serde(default)]
    live: String,
    /// Lines that the page has already, for the lines that it loads.
    #[serde(default)]
    shown: String,
}

#[derive(Template)]
#[template(path = "logs.html")]
struct LogsPage {
    layout: Layout,
    filters: LogsQuery,
    /// Whether a filter beyond the first ones is set.
    has_more_filters: bool,
    /// The organizations to choose from; none for an operator of one.
    organizations: Vec<(String, String)>,
    types: [(&'static str, &'static str); 3],
    rows: Rows,
    /// Whether newer lines are on another page.
    is_older: bool,
    live: Option<Live>,
    /// The same view, live or not.
    live_link: String,
    plain_link: String,
    csv_link: String,
    ndjson_link: String,
    clear_link: String,
}

/// What the script of the live log needs.
struct Live {
    /// The path of the events.
    events: String,
    /// After which entry they begin.
    after: LogNumber,
    max_lines: usize,
}

/// Lines of the log, and how it goes on.
#[derive(Template)]
#[template(path = "logs_rows.html")]
struct Rows {
    root: String,
    shows_organization: bool,
    entries: Vec<Row>,
    more: Option<More>,
}

/// A line of the log.
struct Row {
    organization: String,
    entry: InspectedLogEntry,
}

/// The way to older lines.
struct More {
    /// The page of these lines.
    link: String,
    /// The lines alone; empty where the page is full.
    lines: String,
    /// Up to where the log was searched, if few lines match.
    searched: Option<LogCursor>,
}

impl Row {
    fn of(one: OperatorLogEntry) -> Self {
        Self { organization: one.organization, entry: one.entry }
    }

    /// The beginning of the description.
    fn first(&self) -> &str {
        self.description(0, FIRST_CHARACTERS)
    }

    /// What follows of a long one.
    fn rest(&self) -> &str {
        self.description(FIRST_CHARACTERS, MAX_CHARACTERS)
    }

    /// Characters of the description, from one place to another.
    fn description(&self, from: usize, to: usize) -> &str {
        let text = &self.entry.entry.description;
        let place = |characters| text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place);
        &text[place(from)..place(to)]
    }

    /// Characters that only downloads have.
    fn cut_characters(&self) -> usize {
        self.entry.entry.description.chars().count().saturating_sub(MAX_CHARACTERS)
    }

    fn is_configuration(&self) -> bool {
        self.entry.log_type == domain::log_entry::LogType::Configuration
    }
}

/// The members of a query.
fn members<'a>(filters: &'a LogsQuery, further: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let LogsQuery {
        organization,
        serial_number,
        user,
        source,
        version,
        computer,
        computer_guid,
        from,
        to,
        log_type,
        q,
    } = filters;
    let all = [
        ("q", q),
        ("organization", organization),
        ("log_type", log_type),
        ("user", user),
        ("source", source),
        ("version", version),
        ("computer", computer),
        ("computer_guid", computer_guid),
        ("serial_number", serial_number),
        ("from", from),
        ("to", to),
    ];
    all.into_iter()
        .map(|(name, value)| (name, value.as_deref().unwrap_or_default()))
        .chain(further.iter().copied())
        .collect()
}

/// `GET /console/logs`; for scripts of the page its lines alone.
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    filters: Query<LogsQuery>,
    asked: Query<PageQuery>,
    view: Query<View>,
    services: (Data<OperatorLogService>, Data<LiveLog>, Data<OrganizationList>),
) -> Result<HttpResponse, Problem> {
    let ((logs, live, organizations), filters, view) = (services, filters.0, view.0);
    let query = filters.read(&caller, &organizations).await?;
    let asked = asked.0.request(LogCursor::parse)?;
    let is_older = asked.after.is_some();
    let is_live = !view.live.is_empty();
    // Before the lines are read, so that no entry falls between them and the stream.
    let after = if is_live { Some(live.into_inner().read(query.clone(), None).await?.position()) } else { None };
    let shown = view.shown.parse().unwrap_or(0);
    let rows = rows(&request, &caller, &filters, query, asked, shown, &logs).await?;
    if request.headers().contains_key(HX_REQUEST) {
        return Ok(page(StatusCode::OK, &rows));
    }
    let path = format!("{}/logs", root(&request));
    let of = |path: &str, further: &[(&str, &str)]| link(path, &members(&filters, further));
    let live = after.map(|after| Live { events: of(&format!("{path}/stream"), &[]), after, max_lines: MAX_LINES });
    let LogsQuery { source, version, serial_number, computer_guid, from, to, .. } = &filters;
    let further = [source, version, serial_number, computer_guid, from, to];
    let has_more_filters = further.into_iter().any(|text| text.as_ref().is_some_and(|text| !text.is_empty()));
    let shown = LogsPage {
        layout: Layout::signed_in(&request, "Logs", "logs", &caller.signed_in),
        has_more_filters,
        organizations: choices(&caller, &organizations).await?,
        types: [("", "All types"), ("log", "Log"), ("configuration", "Configuration")],
        rows,
        is_older,
        live,
        live_link: of(&path, &[("live", "1")]),
        plain_link: of(&path, &[]),
        csv_link: of(&format!("{path}/download/csv"), &[]),
        ndjson_link: of(&format!("{path}/download/ndjson"), &[]),
        clear_link: link(&path, &[("live", &view.live)]),
        filters,
    };
    Ok(page(StatusCode::OK, &shown))
}

async fn rows(
    request: &HttpRequest,
    caller: &Caller,
    filters: &LogsQuery,
    query: LogQuery,
    asked: PageRequest<LogCursor>,
    shown: usize,
    logs: &OperatorLogService,
) -> Result<Rows, Problem> {
    let (root, limit) = (root(request), asked.limit);
    let found = logs.page(&caller.actor, query, asked).await?;
    let shown = shown + found.items.len();
    let is_short = (found.items.len() as u64) < limit;
    let more = found.next.map(|next| {
        let (cursor, limit, shown_text) = (next.to_string(), limit.to_string(), shown.to_string());
        let path = format!("{root}/logs");
        let link = |further: &[(&str, &str)]| link(&path, &members(filters, further));
        let page = [("cursor", cursor.as_str()), ("limit", limit.as_str())];
        let lines = [page[0], page[1], ("shown", shown_text.as_str())];
        More {
            link: link(&page),
            lines: if shown < MAX_LINES { link(&lines) } else { String::new() },
            searched: is_short.then_some(next),
        }
    });
    let shows_organization = shows_organization(caller);
    Ok(Rows { root, shows_organization, entries: found.items.into_iter().map(Row::of).collect(), more })
}

/// Whether an operator sees several organizations.
fn shows_organization(caller: &Caller) -> bool {
    caller.actor.scope.organization().is_none()
}

/// The organizations of a filter; none for an operator of one.
pub(crate) async fn choices(
    caller: &Caller,
    organizations: &OrganizationList,
) -> Result<Vec<(String, String)>, OperatorError> {
    if caller.actor.scope.organization().is_some() {
        return Ok(Vec::new());
    }
    let all = organizations.list(&caller.actor, PageRequest { after: None, limit: 500 }).await?;
    let choices = all.items.into_iter().map(|one| (one.name.clone(), one.name));
    Ok([(String::new(), "All organizations".to_owned())].into_iter().chain(choices).collect())
}

#[derive(Template)]
#[template(path = "logs_row.html")]
struct LiveRow {
    root: String,
    shows_organization: bool,
    row: Row,
}

/// `GET /console/logs/stream`: lines as they arrive.
pub(crate) async fn events(
    request: HttpRequest,
    caller: Caller,
    filters: Query<LogsQuery>,
    start: Query<Start>,
    services: (Data<LiveLog>, Data<OrganizationList>),
) -> Result<HttpResponse, Problem> {
    let (live, organizations) = services;
    let after = start.0.position(&request)?;
    let query = filters.0.read(&caller, &organizations).await?;
    let reader = live.into_inner().read(query, after).await?;
    let (root, shows_organization) = (root(&request), shows_organization(&caller));
    // Templates write to a text, which can't fail.
    let data =
        move |one| LiveRow { root: root.clone(), shows_organization, row: Row::of(one) }.render().unwrap_or_default();
    Ok(stream(request, caller, reader, LogEvent { name: Some("entry"), data: Box::new(data) }))
}

/// `GET /console/logs/download/{format}`: all that matches as a file.
pub(crate) async fn download(
    request: HttpRequest,
    caller: Caller,
    format: Path<String>,
    filters: Query<LogsQuery>,
    services: (Data<OperatorLogService>, Data<OrganizationList>),
) -> Result<HttpResponse, Problem> {
    let (logs, organizations) = services;
    let (format, name) = match format.as_str() {
        "csv" => (Export::Csv, "logs.csv"),
        "ndjson" => (Export::Ndjson, "logs.ndjson"),
        _ => return Err(Problem::NotFound),
    };
    let query = filters.0.read(&caller, &organizations).await?;
    let entries = logs.list(&caller.actor, query).await?;
    Ok(exported(&request, format, "application/octet-stream", Some(name), entries))
}
