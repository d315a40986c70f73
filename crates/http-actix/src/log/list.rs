//! POST /api/v2/log/list: get logs (interface 4.9).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::extract::json::{FromJson, Lenient, read_object};
use crate::extract::lenient_json::LenientJson;
use crate::list::{array, push_json};
use crate::openapi::description::Description;
use crate::openapi::schema::{closed_object, list_of, named, text, time, words};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::log_entry::{ListedLogEntry, LogFilter, LogFilterInput, LogService};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;

pub(crate) async fn list_logs(
    caller: Caller,
    body: LenientJson<LogFilterBody>,
    logs: Data<LogService>,
) -> Result<HttpResponse, ApiError> {
    let filter = LogFilter::try_from(body.0)?;
    array(logs.list(&caller, filter), write_entry).await
}

/// The filters of a log list as clients send them (interface 4.9).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct LogFilterBody {
    serial_number: Lenient<String>,
    user: Lenient<String>,
    source: Lenient<String>,
    version: Lenient<String>,
    computer: Lenient<String>,
    date_time: Lenient<DateTimeBody>,
    log_type: Lenient<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct DateTimeBody {
    from: Lenient<String>,
    to: Lenient<String>,
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

/// An empty text or object in place of a filter is no filter (decision L7).
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

/// A returned entry (interface 2.6).
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct EntryBody<'a> {
    user: &'a str,
    source: &'a str,
    version: &'a str,
    computer: &'a str,
    description: &'a str,
}

fn write_entry(entry: &ListedLogEntry, text: &mut String) {
    let ListedLogEntry { user, source, version, computer, description } = entry;
    push_json(text, &EntryBody { user, source, version, computer, description });
}

pub(crate) fn description() -> Description {
    let about = "Lists the entries of the organization that match all given filters, the newest first. At least one is \
                 given. A text filter matches the whole value without case; `*` in it stands for any characters, or \
                 none. The answer is streamed.";
    let received = closed_object("When the entry was received; either end may be absent.")
        .property("From", time(""))
        .property("To", time(""))
        .min_properties(Some(1));
    let filter = closed_object("")
        .property("SerialNumber", text("The header with which the entry was sent.").min_length(Some(1)))
        .property("User", text("").min_length(Some(1)))
        .property("Source", text("").min_length(Some(1)))
        .property("Version", text("").min_length(Some(1)))
        .property("Computer", text("").min_length(Some(1)))
        .property("DateTime", received)
        .property("LogType", words(&["Log", "Configuration"]))
        .min_properties(Some(1));
    Description::new("List log entries", about)
        .json_body("LogFilter", filter)
        .with_schema("ListedLogEntry", schema_of_entry())
        .answers_json("The entries.", list_of(named("ListedLogEntry")))
        .refuses([
            Reason::JsonExpected,
            Reason::JsonInvalid,
            Reason::LogFieldsRequired,
            Reason::DateTimeInvalid,
            Reason::LogTypeInvalid,
        ])
}

fn schema_of_entry() -> ObjectBuilder {
    let members = [
        ("User", "The calling user, else the one to whom the calling computer is assigned, else empty."),
        ("Source", "The name of the device, else of the queue, else JobName, else the job's name, else empty."),
        ("Version", "RipVersion, else ApplicationVersion."),
        ("Computer", "The computer's name."),
        ("Description", "The message."),
    ];
    members.into_iter().fold(closed_object(""), |entry, (name, about)| entry.property(name, text(about)).required(name))
}
