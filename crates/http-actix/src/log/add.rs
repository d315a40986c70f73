//! POST /api/v2/log: add a log entry (interface 4.7).

#[cfg(test)]
mod tests;

use crate::answer::Message;
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::extract::json::Lenient;
use crate::extract::lenient_json::LenientJson;
use crate::openapi::description::Description;
use crate::openapi::schema::{filled, guid, object, text, words};
use crate::run::run_to_completion;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::log_entry::{AddLog, AddLogInput, LogService};
use serde::Deserialize;

const ADDED: &str = "Log successfully added";

pub(crate) async fn add_log(
    caller: Caller,
    body: LenientJson<LogEntryBody>,
    logs: Data<LogService>,
) -> Result<Message<'static>, ApiError> {
    let command = AddLog::try_from(body.0)?;
    run_to_completion(async move { logs.add(&caller, command).await }).await?;
    Ok(Message::new(ADDED))
}

/// A log entry as clients send it (interface 2.5).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct LogEntryBody {
    #[serde(rename = "ComputerGUID")]
    computer: Lenient<String>,
    #[serde(rename = "Type")]
    log_type: Lenient<String>,
    description: Lenient<String>,
    rip_version: Lenient<String>,
    #[serde(rename = "DeviceGUID")]
    device: Lenient<String>,
    #[serde(rename = "QueueGUID")]
    queue: Lenient<String>,
    #[serde(rename = "JobGUID")]
    job: Lenient<String>,
    job_name: Lenient<String>,
}

impl TryFrom<LogEntryBody> for AddLog {
    type Error = Failure;

    fn try_from(body: LogEntryBody) -> Result<Self, Failure> {
        Self::new(AddLogInput {
            computer: body.computer.or_absent(),
            log_type: body.log_type.or_absent(),
            description: body.description.or_absent(),
            rip_version: body.rip_version.or_absent(),
            // Whatever is no GUID is not found (decision R7).
            device: body.device.or_json(),
            queue: body.queue.or_json(),
            job: body.job.or_json(),
            job_name: body.job_name.or_absent(),
        })
    }
}

pub(crate) fn description() -> Description {
    let about = "Adds an entry to the organization's log. 200 means that it is durable.";
    let entry = object("")
        .property("ComputerGUID", guid("A registered computer."))
        .property("Type", words(&["log", "configuration"]))
        .property("Description", filled("The message."))
        .property("RipVersion", text("Usually x.x.x; kept as sent."))
        .property("DeviceGUID", guid("A registered device."))
        .property("QueueGUID", guid("A registered queue."))
        .property("JobGUID", guid("A registered job."))
        .property("JobName", text(""))
        .required("ComputerGUID")
        .required("Type")
        .required("Description");
    Description::new("Add a log entry", about).json_body("LogEntry", entry).answers_message(ADDED).refuses([
        Reason::JsonExpected,
        Reason::JsonInvalid,
        Reason::LogFieldsRequired,
        Reason::ComputerNotFound,
        Reason::DeviceNotFound,
        Reason::QueueNotFound,
        Reason::JobNotFound,
    ])
}
