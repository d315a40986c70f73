//! POST /api/v2/log/list: get logs (interface 4.9).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::body::LenientJson;
use crate::extract::json::{FromJson, Lenient, read_object};
use crate::openapi::responses::{Responses, refusals, words};
use crate::response::{json_array, push_json};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::log_entry::{ListedLogEntry, LogFilter, LogFilterInput, LogService};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{IntoResponses, ToSchema};

/// List log entries
///
/// Lists the entries of the organization that match all given filters, the newest first. At least one is given. A text
/// filter matches the whole value without case; `*` in it stands for any characters, or none. The answer is streamed.
#[utoipa::path(
    post,
    path = "/api/v2/log/list",
    tag = "Logs and crash reports",
    request_body = LogFilterBody,
    responses((status = 200, description = "The entries.", body = Vec<EntryBody>), Refusals)
)]
pub(crate) async fn list_logs(
    caller: Caller,
    body: LenientJson<LogFilterBody>,
    logs: Data<LogService>,
) -> Result<HttpResponse, ApiError> {
    let filter = LogFilter::try_from(body.0)?;
    Ok(json_array(logs.list(&caller, filter), write_entry).await?)
}

/// Which log entries to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = LogFilter, min_properties = 1)]
pub(crate) struct LogFilterBody {
    /// The header with which the entry was sent.
    #[schema(value_type = String, min_length = 1, required = false)]
    serial_number: Lenient<String>,
    #[schema(value_type = String, min_length = 1, required = false)]
    user: Lenient<String>,
    #[schema(value_type = String, min_length = 1, required = false)]
    source: Lenient<String>,
    #[schema(value_type = String, min_length = 1, required = false)]
    version: Lenient<String>,
    #[schema(value_type = String, min_length = 1, required = false)]
    computer: Lenient<String>,
    #[schema(value_type = DateTimeBody, required = false)]
    date_time: Lenient<DateTimeBody>,
    #[schema(schema_with = log_types, required = false)]
    log_type: Lenient<String>,
}

/// When the entry was received; either end may be absent.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = DateTimeFilter, min_properties = 1)]
struct DateTimeBody {
    #[schema(value_type = String, format = DateTime, required = false)]
    from: Lenient<String>,
    #[schema(value_type = String, format = DateTime, required = false)]
    to: Lenient<String>,
}

fn log_types() -> ObjectBuilder {
    words("", &["Log", "Configuration"])
}

impl FromJson for DateTimeBody {
    fn from_json(json: &RawValue) -> Option<Self> {
        read_object(json)
    }
}

impl TryFrom<LogFilterBody> for LogFilter {
    type Error = Failure;

    fn try_from(body: LogFilterBody) -> Result<Self, Failure> {
        let text = |filter: Lenient<String>, name: &str| {
            let refuse = |_: &str| Reason::LogFieldsRequired.because(format!("the filter {name} is not a text"));
            or_not_given(filter).or_refuse(refuse)
        };
        let refuse = |_: &str| Reason::DateTimeInvalid.because("DateTime is not an object with From and To");
        let DateTimeBody { from, to } = or_not_given(body.date_time).or_refuse(refuse)?.unwrap_or_default();
        Self::new(LogFilterInput {
            serial_number: text(body.serial_number, "SerialNumber")?,
            user: text(body.user, "User")?,
            source: text(body.source, "Source")?,
            version: text(body.version, "Version")?,
            computer: text(body.computer, "Computer")?,
            from: or_not_given(from).or_json(),
            to: or_not_given(to).or_json(),
            log_type: or_not_given(body.log_type).or_json(),
        })
    }
}

/// A filter that is an empty text or object is not given (decision L7).
fn or_not_given<T>(filter: Lenient<T>) -> Lenient<T> {
    match filter {
        Lenient::Other(json) if json == r#""""# || is_empty_object(&json) => Lenient::Absent,
        other => other,
    }
}

fn is_empty_object(json: &str) -> bool {
    let inner = json.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// A log entry in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[schema(as = ListedLogEntry)]
struct EntryBody<'a> {
    /// The calling user, else the one to whom the calling computer is assigned, else empty.
    user: &'a str,
    /// The name of the device, else of the queue, else JobName, else the job's name, else empty.
    source: &'a str,
    /// RipVersion, else ApplicationVersion.
    version: &'a str,
    /// The computer's name.
    computer: &'a str,
    /// The message.
    description: &'a str,
}

fn write_entry(entry: &ListedLogEntry, text: &mut String) {
    let ListedLogEntry { user, source, version, computer, description } = entry;
    push_json(text, &EntryBody { user, source, version, computer, description });
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([
            Reason::BodyTooLarge,
            Reason::BodyTimedOut,
            Reason::JsonExpected,
            Reason::JsonInvalid,
            Reason::LogFieldsRequired,
            Reason::DateTimeInvalid,
            Reason::LogTypeInvalid,
        ])
    }
}
