//! Events and their order.

use crate::activity::ResourceKey;
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::device_history::StateChange;
use crate::guid::{ComputerGuid, CrashReportId, DeviceGuid, ResourceGuid, parse_guid};
use crate::log_entry::LogType;
use crate::timestamp::Timestamp;
use std::fmt;

/// The subject of a timeline. The comments list its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Log entries, crash reports, refusals and fetches.
    Computer(ComputerGuid),
    /// Log entries and changes of state.
    Device(DeviceGuid),
}

/// Distinguishes events of the same time. The order of the variants orders such events in a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventId {
    StateChange,
    Fetch(ResourceKey),
    LogEntry(i64),
    CrashReport(CrashReportId),
    Refusal(i64),
}

/// A cursor: the next page has the events before this one. It stays valid while events come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimelineCursor {
    pub at: Timestamp,
    pub id: EventId,
}

impl fmt::Display for TimelineCursor {
    /// Writes letters, digits and hyphens.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.at.as_micros();
        match self.id {
            EventId::StateChange => write!(out, "{micros}-s"),
            EventId::Fetch(resource) => {
                write!(out, "{micros}-f-{}-{}", resource.organization.0, resource.guid.as_uuid().as_simple())
            }
            EventId::LogEntry(id) => write!(out, "{micros}-l-{id}"),
            EventId::CrashReport(id) => write!(out, "{micros}-c-{}", id.as_uuid().as_simple()),
            EventId::Refusal(number) => write!(out, "{micros}-r-{number}"),
        }
    }
}

impl TimelineCursor {
    /// Parses the text that `Display` writes; `None` for any other text. Times before 1970 have no cursor.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let pieces: Vec<&str> = text.split('-').collect();
        let (micros, id) = pieces.split_first()?;
        let id = match id {
            ["s"] => EventId::StateChange,
            ["f", organization, guid] => {
                let organization = OrganizationId(organization.parse().ok()?);
                EventId::Fetch(ResourceKey { organization, guid: ResourceGuid::from(parse_guid(guid)?) })
            }
            ["l", id] => EventId::LogEntry(id.parse().ok()?),
            ["c", id] => EventId::CrashReport(CrashReportId::from(parse_guid(id)?)),
            ["r", number] => EventId::Refusal(number.parse().ok()?),
            _ => return None,
        };
        Some(Self { at: Timestamp::from_micros(micros.parse().ok()?), id })
    }
}

/// An event of a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEvent {
    /// The time of the event, and the cursor of the page after it.
    pub cursor: TimelineCursor,
    pub details: TimelineDetails,
}

/// The kind of an event with its values. The kind is the same as in the cursor's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelineDetails {
    StateChange(StateChange),
    /// The last time at which the computer fetched the resource, or got the response 304.
    Fetch {
        /// The present name of the resource; `None` if it was deleted or the organization may not see it any more.
        name: Option<String>,
        checksum: Sha1Checksum,
    },
    LogEntry {
        log_type: LogType,
        /// At most [`Self::MAX_TEXT`] characters.
        description: String,
        user: String,
        /// As clients see it (decision L4).
        source: String,
        version: String,
    },
    CrashReport {
        application_name: Option<String>,
        application_version: String,
    },
    Refusal {
        operation: String,
        reason: String,
        detail: String,
    },
}

impl TimelineDetails {
    /// Limit for a description in characters; the log has the whole text.
    pub const MAX_TEXT: usize = 500;

    /// The text form of the kind, as in lists and JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::StateChange(_) => "status",
            Self::Fetch { .. } => "fetch",
            Self::LogEntry { .. } => "log",
            Self::CrashReport { .. } => "crash",
            Self::Refusal { .. } => "refusal",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, numbered, resource_guid};
    use proptest::prelude::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        // Decision I12.
        let key = ResourceKey { organization: OrganizationId(7), guid: resource_guid(5) };
        let ids = [
            EventId::StateChange,
            EventId::Fetch(key),
            EventId::LogEntry(9),
            EventId::CrashReport(numbered(3).into()),
            EventId::Refusal(4),
        ];
        for id in ids {
            let cursor = TimelineCursor { at: at(3), id };
            assert_eq!(TimelineCursor::parse(&cursor.to_string()), Some(cursor), "{cursor}");
        }
        for text in ["", "-", "1", "1-x", "1-l", "1-l-x", "1-s-1", "x-s", "1-f-1", "1-c-1", "1-l-1-2"] {
            assert_eq!(TimelineCursor::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9a-z-]{0,40}") {
            let _ = TimelineCursor::parse(&text);
        }
    }
}
