//! The typed commands of the log, which can only be built from valid values.

#[cfg(test)]
mod tests;

use super::{LogFilter, LogType, Pattern};
use crate::detail::quoted;
use crate::error::{Outcome, Reason};
use crate::text::{cut, is_blank, storable};
use crate::timestamp::Timestamp;

/// Longest RipVersion that is kept, in characters (decision L3).
const MAX_VERSION: usize = 64;

/// The members of a submitted log entry as they were sent (interface 2.5).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddLogInput {
    pub computer: Option<String>,
    pub log_type: Option<String>,
    pub description: Option<String>,
    pub rip_version: Option<String>,
    pub device: Option<String>,
    pub queue: Option<String>,
    pub job: Option<String>,
    pub job_name: Option<String>,
}

/// Adds a log entry (interface 4.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddLog {
    /// GUIDs as they were sent: a malformed one is not found, in the order of decision L2.
    pub(super) computer: String,
    pub(super) device: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) job: Option<String>,
    pub(super) log_type: LogType,
    pub(super) description: String,
    pub(super) rip_version: Option<String>,
    pub(super) job_name: Option<String>,
}

impl AddLog {
    /// # Errors
    /// [`Reason::LogFieldsRequired`] (decision L1). An optional text that is blank counts as absent.
    pub fn new(input: AddLogInput) -> Outcome<Self> {
        let required = |text: Option<String>, name: &str| {
            given(text).ok_or_else(|| Reason::LogFieldsRequired.because(format!("{name} is missing or blank")))
        };
        let computer = required(input.computer, "ComputerGUID")?;
        let log_type = required(input.log_type, "Type")?;
        let log_type = LogType::parse(&log_type).ok_or_else(|| {
            let detail = format!("Type is {}, neither log nor configuration", quoted(&log_type));
            Reason::LogFieldsRequired.because(detail)
        })?;
        let description = required(input.description, "Description")?;
        Ok(Self {
            computer,
            device: given(input.device),
            queue: given(input.queue),
            job: given(input.job),
            log_type,
            description: storable(&description),
            rip_version: given(input.rip_version).map(|version| cut(&storable(&version), MAX_VERSION)),
            job_name: given(input.job_name).map(|name| storable(&name)),
        })
    }
}

fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !is_blank(text))
}

/// The filters of a log list as they were sent (interface 4.9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilterInput {
    pub serial_number: Option<String>,
    pub user: Option<String>,
    pub source: Option<String>,
    pub version: Option<String>,
    pub computer: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub log_type: Option<String>,
}

impl LogFilter {
    /// Decisions L5 to L7: a filter that is empty is not given.
    ///
    /// # Errors
    /// [`Reason::DateTimeInvalid`], [`Reason::LogTypeInvalid`], and [`Reason::LogFieldsRequired`] where no filter is given.
    pub fn new(input: LogFilterInput) -> Outcome<Self> {
        let pattern = |text: Option<String>| not_empty(text).map(|text| Pattern::new(&storable(&text)));
        let filter = Self {
            from: point(input.from, "From")?,
            to: point(input.to, "To")?,
            serial_number: pattern(input.serial_number),
            user: pattern(input.user),
            source: pattern(input.source),
            version: pattern(input.version),
            computer: pattern(input.computer),
            computer_guid: None,
            log_type: log_type(input.log_type)?,
            search: None,
        };
        if filter == Self::default() {
            return Err(Reason::LogFieldsRequired.because("no filter is given"));
        }
        Ok(filter)
    }
}

fn not_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn point(text: Option<String>, name: &str) -> Outcome<Option<Timestamp>> {
    let read = |text: String| {
        let invalid = || Reason::DateTimeInvalid.because(format!("{name} is {}", quoted(&text)));
        Timestamp::parse(&text).ok_or_else(invalid)
    };
    not_empty(text).map(read).transpose()
}

fn log_type(text: Option<String>) -> Outcome<Option<LogType>> {
    let read = |text: String| {
        let invalid = || Reason::LogTypeInvalid.because(format!("LogType is {}", quoted(&text)));
        LogType::parse(&text).ok_or_else(invalid)
    };
    not_empty(text).map(read).transpose()
}
