//! Filters, orders and cursors of lists of groups.

use super::{CrashGroup, CrashGroupId, GroupState};
use crate::guid::{ComputerGuid, parse_guid};
use std::fmt;

/// Conditions of a list of groups; a group must meet all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupFilter {
    pub state: Option<GroupState>,
    /// The whole name of the application, with case.
    pub application_name: Option<String>,
    /// A part of the signature, without case as far as the database engine supports it.
    pub search: Option<String>,
    /// The group has a report of this computer.
    pub computer: Option<ComputerGuid>,
}

/// The order of a list of groups: the highest value first; of equal values the higher id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GroupSort {
    #[default]
    LastSeen,
    FirstSeen,
    Reports,
}

impl GroupSort {
    pub const ALL: [Self; 3] = [Self::LastSeen, Self::FirstSeen, Self::Reports];

    /// The text form, as in queries and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LastSeen => "last_seen",
            Self::FirstSeen => "first_seen",
            Self::Reports => "reports",
        }
    }

    /// Parses the text form of [`GroupSort::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text)
    }

    /// The cursor of the page after this group.
    #[must_use]
    pub fn cursor(self, group: &CrashGroup) -> GroupCursor {
        let value = match self {
            Self::LastSeen => group.last_seen.as_micros(),
            Self::FirstSeen => group.first_seen.as_micros(),
            Self::Reports => i64::try_from(group.reports).unwrap_or(i64::MAX),
        };
        GroupCursor { value, id: group.id }
    }
}

/// A cursor: the next page begins after the group with this value and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupCursor {
    /// The value of the sort key: microseconds since 1970, or a number of reports.
    pub value: i64,
    pub id: CrashGroupId,
}

impl GroupCursor {
    /// Parses the text that `Display` writes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (value, id) = text.split_once('.')?;
        Some(Self { value: value.parse().ok()?, id: CrashGroupId::from(parse_guid(id)?) })
    }
}

impl fmt::Display for GroupCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.value, self.id)
    }
}

/// How many reports of a group were received on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DailyReports {
    pub group: CrashGroupId,
    /// The number of the day, from 0 at `since` ([`super::CrashGroupRepository::daily`]).
    pub day: u32,
    pub reports: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered;

    #[test]
    fn a_cursor_and_an_order_are_read_as_they_were_written() {
        let cursor = GroupCursor { value: -7, id: CrashGroupId::from(numbered(5)) };
        assert_eq!(GroupCursor::parse(&cursor.to_string()), Some(cursor));
        for text in ["", ".", "1", "1.x", "x.00000000-0000-0000-0000-000000000005"] {
            assert_eq!(GroupCursor::parse(text), None, "{text}");
        }
        for sort in GroupSort::ALL {
            assert_eq!(GroupSort::parse(sort.as_str()), Some(sort));
        }
    }
}
