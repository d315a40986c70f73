//! Queries and hits of the search.

use crate::caller::OrganizationId;
use crate::crash_group::CrashGroupId;
use crate::guid::{ComputerGuid, CrashReportId, DeviceGuid, JobGuid, QueueGuid, ResourceGuid, parse_guid};
use crate::text::{cut, is_blank};
use crate::timestamp::Timestamp;
use uuid::Uuid;

/// Limit for the text of a query in characters; the rest is cut off.
const MAX_LENGTH: usize = 200;

/// A text of at least so many hexadecimal digits may be the beginning of a GUID.
const MIN_DIGITS: usize = 6;

/// The text that an operator searches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// Trimmed, never empty, at most 200 characters.
    pub text: String,
    /// The GUIDs that the text may mean.
    pub guids: Option<GuidRange>,
}

impl SearchQuery {
    /// Parses the text that was typed; `None` if it is blank.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = cut(text.trim(), MAX_LENGTH).replace('\0', "\u{FFFD}");
        (!is_blank(&text)).then(|| Self { guids: GuidRange::parse(&text), text })
    }
}

/// The GUIDs from `first` to `last`, both included: one GUID, or all GUIDs with the same beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuidRange {
    pub first: Uuid,
    pub last: Uuid,
}

impl GuidRange {
    /// Parses a whole GUID (decision R7), or at least its first six digits, with or without hyphens.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(guid) = parse_guid(text) {
            return Some(Self { first: guid, last: guid });
        }
        let digits: String = text.chars().filter(|character| *character != '-').collect();
        let is_beginning =
            (MIN_DIGITS..32).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_beginning {
            return None;
        }
        let filled = |digit: char| {
            let rest = std::iter::repeat_n(digit, 32 - digits.len());
            Uuid::try_parse(&digits.chars().chain(rest).collect::<String>()).ok()
        };
        Some(Self { first: filled('0')?, last: filled('f')? })
    }

    /// Whether the range is one GUID.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.first == self.last
    }

    #[must_use]
    pub fn contains(self, guid: Uuid) -> bool {
        (self.first..=self.last).contains(&guid)
    }
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The organization of the record; `None` for a refusal of a caller whose organization isn't known.
    pub organization: Option<OrganizationId>,
    pub thing: Thing,
    /// Whether the record was removed from the fleet.
    pub is_retired: bool,
}

/// The kind of record, with its values for a list of hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    Organization {
        name: String,
    },
    User {
        name: String,
    },
    Computer {
        guid: ComputerGuid,
        name: String,
        serial_number: Option<String>,
    },
    Device {
        guid: DeviceGuid,
        name: String,
    },
    Queue {
        guid: QueueGuid,
        name: String,
        device: Option<DeviceGuid>,
    },
    Job {
        guid: JobGuid,
        name: String,
        queue: Option<QueueGuid>,
    },
    Resource {
        guid: ResourceGuid,
        name: String,
    },
    CrashReport {
        id: CrashReportId,
        received: Timestamp,
        application_name: Option<String>,
    },
    CrashGroup {
        id: CrashGroupId,
        signature: String,
    },
    /// A refused request.
    Refusal {
        at: Timestamp,
        request_id: String,
        operation: String,
        status: u16,
        reason: String,
        detail: String,
    },
}

impl Thing {
    /// The text form of the kind, as in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Organization { .. } => "organization",
            Self::User { .. } => "user",
            Self::Computer { .. } => "computer",
            Self::Device { .. } => "device",
            Self::Queue { .. } => "queue",
            Self::Job { .. } => "job",
            Self::Resource { .. } => "resource",
            Self::CrashReport { .. } => "crash_report",
            Self::CrashGroup { .. } => "crash_group",
            Self::Refusal { .. } => "refusal",
        }
    }

    /// The GUID or id as text; `None` for organizations and users, which have only a name.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        match self {
            Self::Organization { .. } | Self::User { .. } => None,
            Self::Computer { guid, .. } => Some(guid.to_string()),
            Self::Device { guid, .. } => Some(guid.to_string()),
            Self::Queue { guid, .. } => Some(guid.to_string()),
            Self::Job { guid, .. } => Some(guid.to_string()),
            Self::Resource { guid, .. } => Some(guid.to_string()),
            Self::CrashReport { id, .. } => Some(id.to_string()),
            Self::CrashGroup { id, .. } => Some(id.to_string()),
            Self::Refusal { request_id, .. } => Some(request_id.clone()),
        }
    }

    /// The name, or the text that stands for one.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Organization { name }
            | Self::User { name }
            | Self::Computer { name, .. }
            | Self::Device { name, .. }
            | Self::Queue { name, .. }
            | Self::Job { name, .. }
            | Self::Resource { name, .. } => name,
            Self::CrashReport { application_name, .. } => application_name.as_deref().unwrap_or("unknown application"),
            Self::CrashGroup { signature, .. } => signature,
            Self::Refusal { detail, .. } => detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(text: &str) -> Option<(String, String)> {
        GuidRange::parse(text).map(|range| (range.first.to_string(), range.last.to_string()))
    }

    #[test]
    fn a_guid_or_its_beginning_is_recognized() {
        let guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
        for text in [guid, "{0F8FAD5B-D9CB-469F-A165-70867728950E}", "0f8fad5bd9cb469fa16570867728950e"] {
            assert!(GuidRange::parse(text).unwrap().is_whole(), "{text}");
            assert_eq!(range(text).unwrap().0, guid);
        }
        let first = "0f8fad5b-d000-0000-0000-000000000000".to_owned();
        let last = "0f8fad5b-dfff-ffff-ffff-ffffffffffff".to_owned();
        assert_eq!(range("0F8FAD5B-D"), Some((first, last)));
        assert!(GuidRange::parse("0f8fad").unwrap().contains(parse_guid(guid).unwrap()));
        for text in ["0f8fa", "", "------", "0f8fad5g", "RIP-01", "Große Rückwand"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_typed_is_trimmed_and_cut() {
        assert_eq!(SearchQuery::parse(" RIP-01\t").map(|query| query.text), Some("RIP-01".to_owned()));
        assert_eq!(SearchQuery::parse(" \u{2003} "), None);
        let long = SearchQuery::parse(&"ä".repeat(100_000)).unwrap();
        assert_eq!(long.text.chars().count(), MAX_LENGTH);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}|[0-9a-fA-F{}-]{0,40}") {
            if let Some(range) = SearchQuery::parse(&text).and_then(|query| query.guids) {
                prop_assert!(range.first <= range.last);
            }
        }
    }
}
