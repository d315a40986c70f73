//! Which entries a log list names (interface 4.9, decisions L5–L7).

use super::LogType;
use crate::text::Folded;
use crate::timestamp::Timestamp;

/// Filters that combine with AND; at least one is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub serial_number: Option<Pattern>,
    pub user: Option<Pattern>,
    pub source: Option<Pattern>,
    pub version: Option<Pattern>,
    pub computer: Option<Pattern>,
    /// Inclusive (decision L6).
    pub from: Option<Timestamp>,
    /// Inclusive (decision L6).
    pub to: Option<Timestamp>,
    pub log_type: Option<LogType>,
}

/// A text filter: matches a whole value without case; `*` stands for any run of characters, an
/// empty one too (decision L5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Reads a filter text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Folded::of(text).as_str().split('*').map(str::to_owned).collect())
    }

    /// The folded texts between the stars, in order: one without any star.
    #[must_use]
    pub fn pieces(&self) -> &[String] {
        &self.0
    }

    /// Whether the whole of `value` matches.
    #[must_use]
    pub fn matches(&self, value: &Folded) -> bool {
        let (first, rest) = self.0.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let Some((last, middle)) = rest.split_last() else {
            return value.as_str() == first;
        };
        let Some(mut open) = value.as_str().strip_prefix(first) else {
            return false;
        };
        // Taking the leftmost place of each piece leaves the most room for the following ones.
        for piece in middle {
            let Some(place) = open.find(piece.as_str()) else {
                return false;
            };
            open = &open[place + piece.len()..];
        }
        open.ends_with(last.as_str())
    }
}
