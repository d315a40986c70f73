//! A timeline as rows of a page (decision I12).

use crate::link::encoded;
use domain::device_status::{ConnectionState, Status};
use domain::timeline::{EventId, TimelineDetails, TimelineEvent};
use domain::timestamp::Timestamp;

/// An event in words.
pub(crate) struct EventRow {
    pub(crate) at: Timestamp,
    /// Shape and colour of its badge.
    pub(crate) kind: &'static str,
    /// What kind of event it is.
    pub(crate) word: &'static str,
    pub(crate) title: String,
    /// More about it; may be empty.
    pub(crate) text: String,
    /// Where it leads; may be empty.
    pub(crate) link: String,
}

/// The rows of events of an organization's computer or device. `root` is the path of the console.
pub(crate) fn rows(
    events: Vec<TimelineEvent>,
    root: &str,
    owner: domain::caller::OrganizationId,
    organization: &str,
) -> Vec<EventRow> {
    events.into_iter().map(|event| row(event, root, owner, organization)).collect()
}

fn row(event: TimelineEvent, root: &str, owner: domain::caller::OrganizationId, organization: &str) -> EventRow {
    let at = event.cursor.at;
    let base = EventRow { at, kind: "idle", word: "", title: String::new(), text: String::new(), link: String::new() };
    match event.details {
        TimelineDetails::StateChange(change) => {
            let connection = change.connection_state.map(ConnectionState::as_str).unwrap_or_default();
            let title = [change.status.as_str(), connection].into_iter().filter(|word| !word.is_empty());
            let texts = [change.message, change.connection_message].into_iter().flatten();
            EventRow {
                kind: state_kind(change.status),
                word: "Status",
                title: title.collect::<Vec<_>>().join(", "),
                text: texts.collect::<Vec<_>>().join(" · "),
                ..base
            }
        }
        TimelineDetails::Fetch { name, checksum } => {
            let link = match event.cursor.id {
                // Of another organization, only what its computer has is known here.
                EventId::Fetch(key) if key.organization == owner && name.is_some() => {
                    format!("{root}/resources/{}/{}", encoded(organization), key.guid)
                }
                _ => String::new(),
            };
            let title = name.unwrap_or_else(|| "a resource that was deleted".to_owned());
            EventRow { kind: "good", word: "Fetch", title, text: format!("SHA1 {checksum}"), link, ..base }
        }
        TimelineDetails::LogEntry { log_type, description, user, source, version } => {
            let parts = [log_type.as_str(), &source, &user, &version];
            let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
            EventRow { word: "Log", title: description, text, ..base }
        }
        TimelineDetails::CrashReport { application_name, application_version } => {
            let link = match event.cursor.id {
                EventId::CrashReport(id) => format!("{root}/crash-reports/{id}"),
                _ => String::new(),
            };
            let title = application_name.unwrap_or_else(|| "unknown application".to_owned());
            EventRow { kind: "bad", word: "Crash", title, text: format!("version {application_version}"), link, ..base }
        }
        TimelineDetails::Refusal { operation, reason, detail } => {
            EventRow { kind: "warn", word: "Refusal", title: detail, text: format!("{operation}: {reason}"), ..base }
        }
    }
}

fn state_kind(status: Status) -> &'static str {
    match status.as_str() {
        "Error" => "bad",
        "Printing" => "busy",
        _ => "idle",
    }
}
