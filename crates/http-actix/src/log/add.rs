//! POST /api/v2/log: add a log entry (interface 4.7).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::body::LenientJson;
use crate::extract::json::Lenient;
use crate::openapi::responses::{Responses, refusals, words};
use crate::response::Message;
use crate::services::run_to_completion;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::log_entry::{AddLog, AddLogInput, LogService};
use serde::Deserialize;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{IntoResponses, ToSchema};

const ADDED: &str = "Log successfully added";

/// Add a log entry
///
/// Adds an entry to the organization's log. 200 means that it is durable.
#[utoipa::path(
    post,
    path = "/api/v2/log",
    tag = "Logs and crash reports",
    request_body = LogEntryBody,
    responses((status = 200, description = ADDED, body = String, content_type = "application/json"), Refusals)
)]
pub(crate) async fn add_log(
    caller: Caller,
    body: LenientJson<LogEntryBody>,
    logs: Data<LogService>,
) -> Result<Message, ApiError> {
    let command = AddLog::try_from(body.0)?;
    run_to_completion(async move { logs.add(&caller, command).await }).await?;
    Ok(Message::Success(ADDED))
}

/// A log entry.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = LogEntry)]
pub(crate) struct LogEntryBody {
    /// A registered computer.
    #[serde(rename = "ComputerGUID")]
    #[schema(value_type = String, format = "uuid")]
    computer: Lenient<String>,
    #[serde(rename = "Type")]
    #[schema(schema_with = log_types)]
    log_type: Lenient<String>,
    /// The message.
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    description: Lenient<String>,
    /// Usually x.x.x; kept as sent.
    #[schema(value_type = String, required = false)]
    rip_version: Lenient<String>,
    /// A registered device.
    #[serde(rename = "DeviceGUID")]
    #[schema(value_type = String, format = "uuid", required = false)]
    device: Lenient<String>,
    /// A registered queue.
    #[serde(rename = "QueueGUID")]
    #[schema(value_type = String, format = "uuid", required = false)]
    queue: Lenient<String>,
    /// A registered job.
    #[serde(rename = "JobGUID")]
    #[schema(value_type = String, format = "uuid", required = false)]
    job: Lenient<String>,
    #[schema(value_type = String, required = false)]
    job_name: Lenient<String>,
}

fn log_types() -> ObjectBuilder {
    words("", &["log", "configuration"])
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
            Reason::ComputerNotFound,
            Reason::DeviceNotFound,
            Reason::QueueNotFound,
            Reason::JobNotFound,
        ])
    }
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
