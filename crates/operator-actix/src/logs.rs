//! `GET /logs` and `GET /logs/stream`: the log for operators.

mod export;
mod live;
pub(crate) mod stream;

pub use export::{Export, exported};
pub use live::{Arrival, LiveLog, LogReader};
pub use stream::{LogEvent, Start, stream};

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use crate::time::{parse, shown};
use actix_web::http::header::{Accept, Header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use domain::guid::ComputerGuid;
use domain::inspection::InspectedLogEntry;
use domain::log_entry::{ListedLogEntry, LogCursor, LogFilter, LogType, Pattern};
use domain::operator::{OperatorError, OrganizationList};
use domain::operator_log::{LogQuery, OperatorLogEntry, OperatorLogService};
use domain::text::{Folded, storable};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A log entry.
#[derive(Serialize, ToSchema)]
pub(crate) struct LogBody {
    /// Its number, in the order in which entries were stored.
    id: i64,
    /// When it was received.
    #[schema(format = DateTime)]
    received: String,
    organization: String,
    /// `log` or `configuration`.
    r#type: &'static str,
    user: String,
    source: String,
    version: String,
    /// The name that the computer had.
    computer: String,
    computer_guid: String,
    serial_number: String,
    description: String,
}

impl From<OperatorLogEntry> for LogBody {
    fn from(one: OperatorLogEntry) -> Self {
        let InspectedLogEntry { number, received, log_type, serial_number, computer: guid, entry, .. } = one.entry;
        let ListedLogEntry { user, source, version, computer, description } = entry;
        Self {
            id: number.0,
            received: shown(received),
            organization: one.organization,
            r#type: log_type.as_str(),
            user,
            source,
            version,
            computer,
            computer_guid: guid.to_string(),
            serial_number,
            description,
        }
    }
}

/// Which entries: all that fit every condition. A text matches a whole value without case; `*` stands for any characters
/// (decision L5). A condition that is empty is none.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogsQuery {
    /// Only entries of this organization.
    pub organization: Option<String>,
    /// Only entries of this SerialNumber.
    pub serial_number: Option<String>,
    /// Only entries of this user.
    pub user: Option<String>,
    /// Only entries of this source: a device, queue or job.
    pub source: Option<String>,
    /// Only entries of this version.
    pub version: Option<String>,
    /// Only entries of the computer that had this name.
    pub computer: Option<String>,
    /// Only entries of this computer, whatever its name was.
    pub computer_guid: Option<String>,
    /// The first time of receipt, inclusive.
    #[param(value_type = Option<String>, format = DateTime)]
    pub from: Option<String>,
    /// The last time of receipt, inclusive.
    #[param(value_type = Option<String>, format = DateTime)]
    pub to: Option<String>,
    /// Only entries of this type: `log` or `configuration`.
    pub log_type: Option<String>,
    /// Only entries whose description contains this text, without case.
    pub q: Option<String>,
}

impl LogsQuery {
    /// The query of an operator.
    ///
    /// # Errors
    /// [`OperatorError`]: a value that can't be used, an organization that the operator doesn't see.
    pub async fn read(&self, caller: &Caller, organizations: &OrganizationList) -> Result<LogQuery, OperatorError> {
        let filter = self.filter()?;
        let organization = organizations.narrow(&caller.actor, given(self.organization.as_deref())).await?;
        Ok(LogQuery { organization, filter }.within(&caller.actor))
    }

    fn filter(&self) -> Result<LogFilter, OperatorError> {
        let pattern = |text: Option<&str>| given(text).map(|text| Pattern::new(&storable(text)));
        let time = |field, text: Option<&str>| given(text).map(|text| parse(field, text)).transpose();
        let guid = |text: &str| {
            let malformed = || OperatorError::invalid("computer_guid", "must be a GUID");
            ComputerGuid::parse(text).ok_or_else(malformed)
        };
        let log_type = |text: &str| {
            let unknown = || OperatorError::invalid("log_type", "must be log or configuration");
            LogType::parse(text).ok_or_else(unknown)
        };
        Ok(LogFilter {
            serial_number: pattern(self.serial_number.as_deref()),
            user: pattern(self.user.as_deref()),
            source: pattern(self.source.as_deref()),
            version: pattern(self.version.as_deref()),
            computer: pattern(self.computer.as_deref()),
            computer_guid: given(self.computer_guid.as_deref()).map(guid).transpose()?,
            from: time("from", self.from.as_deref())?,
            to: time("to", self.to.as_deref())?,
            log_type: given(self.log_type.as_deref()).map(log_type).transpose()?,
            search: given(self.q.as_deref()).map(|text| Folded::of(&storable(text))),
        })
    }
}

/// A condition that is not empty.
fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The log, the newest entries first. A page may hold fewer entries than `limit`, even none, where they are long or few
/// match: `next` is null on the last page only. `Accept: text/csv` and `application/x-ndjson` answer all entries that
/// match, without pages; cells that a spreadsheet would take for formulas begin with an apostrophe.
#[utoipa::path(get, path = "/logs", operation_id = "list_logs", tag = "Log", params(LogsQuery, PageQuery), responses((status = 200, description = "A page, or all entries.", content((PageBody<LogBody> = "application/json"), (String = "text/csv"), (LogBody = "application/x-ndjson"))), Problems))]
pub(crate) async fn list(
    request: HttpRequest,
    caller: Caller,
    filters: Query<LogsQuery>,
    page: Query<PageQuery>,
    logs: Data<OperatorLogService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(LogCursor::parse)?;
    let query = filters.0.read(&caller, &organizations).await?;
    if let Some(format) = accepted(&request) {
        let entries = logs.list(&caller.actor, query).await?;
        return Ok(exported(&request, format, format.content_type(), None, entries));
    }
    let page = logs.page(&caller.actor, query, asked).await?;
    Ok(json(&PageBody::of(page, LogBody::from, |cursor: LogCursor| cursor.to_string())))
}

/// The format of a whole list that the client prefers to JSON.
fn accepted(request: &HttpRequest) -> Option<Export> {
    let accept = Accept::parse(request).ok()?;
    let known = |media: &str| match media {
        "text/csv" => Some(Some(Export::Csv)),
        "application/x-ndjson" => Some(Some(Export::Ndjson)),
        "application/json" | "application/*" | "*/*" => Some(None),
        _ => None,
    };
    accept.ranked().iter().find_map(|media| known(media.essence_str())).flatten()
}
