//! Places in the log: where a page of a list ends, and up to where a reader has followed.

use crate::timestamp::Timestamp;
use std::fmt;

/// The number of a stored entry, in the order in which entries were stored. It is never given again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogNumber(pub i64);

impl LogNumber {
    /// Reads what `Display` writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number| *number >= 0).map(Self)
    }
}

impl fmt::Display for LogNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A place in a list of entries, which is sorted by time of receipt, then number, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogCursor {
    pub received: Timestamp,
    pub number: LogNumber,
}

impl fmt::Display for LogCursor {
    /// Digits and a point.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.received.as_micros(), self.number)
    }
}

impl LogCursor {
    /// Reads what `Display` writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (micros, number) = text.split_once('.')?;
        Some(Self { received: Timestamp::from_micros(micros.parse().ok()?), number: LogNumber::parse(number)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        for (micros, number) in [(0, 0), (-5, 7), (i64::MAX, i64::MAX)] {
            let cursor = LogCursor { received: Timestamp::from_micros(micros), number: LogNumber(number) };
            assert_eq!(LogCursor::parse(&cursor.to_string()), Some(cursor));
        }
        for text in ["", "7", "7.", ".7", "7.-1", "a.b", "7.8.9", " 7.8", "99999999999999999999.1"] {
            assert_eq!(LogCursor::parse(text), None, "{text}");
        }
        assert_eq!(LogNumber::parse("-1"), None);
    }
}
