//! A computer as operators see it.

use crate::activity::{LastRequest, OutdatedResource};
use crate::caller::OrganizationId;
use crate::crash_group::CrashGroupDetails;
use crate::guid::{ComputerGuid, parse_guid};
use crate::refusal::Refused;
use crate::text::cut;
use crate::timestamp::Timestamp;
use std::fmt;

/// Lists are sorted by so many characters of the name.
const SORT_KEY_LENGTH: usize = 128;

/// A registered computer; it may be retired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputerRecord {
    pub organization: OrganizationId,
    pub guid: ComputerGuid,
    /// The GUID if it was registered without a name.
    pub name: String,
    pub serial_number: Option<String>,
    /// The user to whom it is assigned.
    pub user: Option<String>,
    pub is_retired: bool,
    /// Its last admitted request (decision I8).
    pub last_request: Option<LastRequest>,
}

impl ComputerRecord {
    /// The cursor of the page after this computer.
    #[must_use]
    pub fn cursor(&self) -> ComputerCursor {
        ComputerCursor { name: cut(&self.name, SORT_KEY_LENGTH), guid: self.guid }
    }
}

/// Conditions of a list of computers; a computer must meet all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComputerFilter {
    /// A part of the name, the SerialNumber or the user's name, without case as far as the database engine supports it;
    /// or the GUID.
    pub search: Option<String>,
    /// The last admitted request came at this time or later.
    pub seen_since: Option<Timestamp>,
}

/// A cursor: the next page begins after the computer with this name and GUID.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComputerCursor {
    /// The first 128 characters of the name.
    pub name: String,
    pub guid: ComputerGuid,
}

impl ComputerCursor {
    /// Parses the text that `Display` writes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // No stored text has U+0000 (decision R9).
        let (guid, name) = text.split_once('.').filter(|(_, name)| !name.contains('\0'))?;
        Some(Self { guid: ComputerGuid::from(parse_guid(guid)?), name: name.to_owned() })
    }
}

impl fmt::Display for ComputerCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.guid, self.name)
    }
}

/// A computer in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedComputer {
    /// The name of its organization.
    pub organization: String,
    pub computer: ComputerRecord,
}

/// A computer with its refusals, outdated resources and crash groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundComputer {
    pub listed: ListedComputer,
    /// The newest first.
    pub refusals: Vec<Refused>,
    /// Resources of which the computer has an outdated content (decision I9).
    pub outdated: Vec<OutdatedResource>,
    /// Groups with a crash report of the computer, the last seen first.
    pub groups: Vec<CrashGroupDetails>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for name in ["", "RIP.01", "a b\u{202E}&=", &"ä".repeat(128)] {
            let cursor = ComputerCursor { name: name.to_owned(), guid: ComputerGuid::from(numbered(7)) };
            assert_eq!(ComputerCursor::parse(&cursor.to_string()), Some(cursor));
        }
        for text in ["", ".", "RIP", "1.RIP", "00000000-0000-0000-0000-000000000007.a\0"] {
            assert_eq!(ComputerCursor::parse(text), None, "{text}");
        }
    }
}
