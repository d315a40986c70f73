//! What the JSON bodies of the log operations ask for.

#[cfg(test)]
mod tests;

use super::{LogFilter, LogType, Pattern};
use crate::detail::{quoted, quoted_json};
use crate::error::{Outcome, Reason};
use crate::json::Json;
use crate::text::{cut, is_blank, storable};
use crate::timestamp::Timestamp;

/// Longest RipVersion that is kept, in characters (decision L3).
const MAX_VERSION: usize = 64;

/// A submitted log entry (interface 2.5), its references not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Submission {
    pub(super) computer: String,
    pub(super) device: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) job: Option<String>,
    pub(super) log_type: LogType,
    pub(super) description: String,
    pub(super) rip_version: Option<String>,
    pub(super) job_name: Option<String>,
}

impl Submission {
    /// Reads the body of "add log".
    pub(super) fn read(body: &Json) -> Outcome<Self> {
        let body = body.unwrapped();
        let required = |name: &str| {
            let text = body.text_member(name).filter(|text| !is_blank(text));
            text.ok_or_else(|| Reason::LogFieldsRequired.because(format!("{name} is missing or blank")))
        };
        let computer = required("ComputerGUID")?.to_owned();
        let log_type = required("Type")?;
        let log_type = LogType::parse(log_type).ok_or_else(|| {
            let detail = format!("Type is {}, neither log nor configuration", quoted(log_type));
            Reason::LogFieldsRequired.because(detail)
        })?;
        let description = storable(required("Description")?);
        let text = |name: &str| body.text_member(name).filter(|text| !is_blank(text)).map(storable);
        Ok(Self {
            computer,
            device: reference(body, "DeviceGUID"),
            queue: reference(body, "QueueGUID"),
            job: reference(body, "JobGUID"),
            log_type,
            description,
            rip_version: text("RipVersion").map(|version| cut(&version, MAX_VERSION)),
            job_name: text("JobName"),
        })
    }
}

/// An optional reference: an empty one is absent (decision L2); one that isn't even a text stays as
/// a malformed GUID, which is then not found (decision R7).
fn reference(body: &Json, name: &str) -> Option<String> {
    let value = body.member(name)?;
    let text = value.as_text().map_or_else(|| value.to_string(), str::to_owned);
    (!is_blank(&text)).then_some(text)
}

impl LogFilter {
    /// Reads the body of "get logs" (decisions L5–L7).
    pub(super) fn read(body: &Json) -> Outcome<Self> {
        let body = body.unwrapped();
        let (from, to) = read_date_time(body)?;
        let filter = Self {
            serial_number: pattern(body, "SerialNumber")?,
            user: pattern(body, "User")?,
            source: pattern(body, "Source")?,
            version: pattern(body, "Version")?,
            computer: pattern(body, "Computer")?,
            from,
            to,
            log_type: read_log_type(body)?,
        };
        if filter == Self::default() {
            return Err(Reason::LogFieldsRequired.because("no filter is given"));
        }
        Ok(filter)
    }
}

/// The filter `name`, unless it is not given: absent, null, an empty text or an empty object (decision L7).
fn given<'a>(body: &'a Json, name: &str) -> Option<&'a Json> {
    body.member(name).filter(|value| match value {
        Json::Text(text) => !text.is_empty(),
        Json::Object(members) => !members.is_empty(),
        _ => true,
    })
}

fn pattern(body: &Json, name: &str) -> Outcome<Option<Pattern>> {
    let Some(value) = given(body, name) else {
        return Ok(None);
    };
    match value.as_text() {
        Some(text) => Ok(Some(Pattern::new(&storable(text)))),
        None => Err(Reason::LogFieldsRequired.because(format!("the filter {name} is not a text"))),
    }
}

fn read_log_type(body: &Json) -> Outcome<Option<LogType>> {
    let Some(value) = given(body, "LogType") else {
        return Ok(None);
    };
    match value.as_text().and_then(LogType::parse) {
        Some(log_type) => Ok(Some(log_type)),
        None => Err(Reason::LogTypeInvalid.because(format!("LogType is {}", quoted_json(value)))),
    }
}

fn read_date_time(body: &Json) -> Outcome<(Option<Timestamp>, Option<Timestamp>)> {
    let Some(range) = given(body, "DateTime") else {
        return Ok((None, None));
    };
    if !matches!(range, Json::Object(_)) {
        return Err(Reason::DateTimeInvalid.because("DateTime is not an object with From and To"));
    }
    let point = |name: &str| -> Outcome<Option<Timestamp>> {
        let Some(value) = given(range, name) else {
            return Ok(None);
        };
        match value.as_text().and_then(Timestamp::parse) {
            Some(point) => Ok(Some(point)),
            None => Err(Reason::DateTimeInvalid.because(format!("{name} is {}", quoted_json(value)))),
        }
    };
    Ok((point("From")?, point("To")?))
}
