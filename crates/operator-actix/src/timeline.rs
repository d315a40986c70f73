//! Events of a timeline (decision I12).

use crate::time::shown;
use domain::timeline::{EventId, TimelineDetails, TimelineEvent};
use serde::Serialize;
use utoipa::ToSchema;

/// Something that happened to a computer or a device.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimelineBody {
    #[schema(format = DateTime)]
    time: String,
    #[serde(flatten)]
    event: EventBody,
}

/// What happened.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum EventBody {
    /// The state of a device changed.
    Status {
        status: &'static str,
        message: Option<String>,
        connection_state: Option<&'static str>,
        connection_message: Option<String>,
    },
    /// The computer fetched a resource, or learned that it has it.
    Fetch {
        /// The GUID of the resource.
        resource: Option<String>,
        /// Its present name; null if it was deleted.
        name: Option<String>,
        checksum: String,
    },
    Log {
        log_type: &'static str,
        /// At most 500 characters.
        description: String,
        user: String,
        source: String,
        version: String,
    },
    Crash {
        /// The id of the crash report.
        crash_report: Option<String>,
        application_name: Option<String>,
        application_version: String,
    },
    Refusal {
        operation: String,
        reason: String,
        detail: String,
    },
}

impl From<TimelineEvent> for TimelineBody {
    fn from(TimelineEvent { cursor, details }: TimelineEvent) -> Self {
        let event = match details {
            TimelineDetails::StateChange(change) => EventBody::Status {
                status: change.status.as_str(),
                message: change.message,
                connection_state: change.connection_state.map(domain::device_status::ConnectionState::as_str),
                connection_message: change.connection_message,
            },
            TimelineDetails::Fetch { name, checksum } => EventBody::Fetch {
                resource: match cursor.id {
                    EventId::Fetch(key) => Some(key.guid.to_string()),
                    _ => None,
                },
                name,
                checksum: checksum.to_string(),
            },
            TimelineDetails::LogEntry { log_type, description, user, source, version } => {
                EventBody::Log { log_type: log_type.as_str(), description, user, source, version }
            }
            TimelineDetails::CrashReport { application_name, application_version } => EventBody::Crash {
                crash_report: match cursor.id {
                    EventId::CrashReport(id) => Some(id.to_string()),
                    _ => None,
                },
                application_name,
                application_version,
            },
            TimelineDetails::Refusal { operation, reason, detail } => EventBody::Refusal { operation, reason, detail },
        };
        Self { time: shown(cursor.at), event }
    }
}
