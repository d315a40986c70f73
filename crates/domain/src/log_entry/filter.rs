//! The filters of a log list (interface 4.9, decisions L5–L7).

use super::LogType;
use crate::guid::ComputerGuid;
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
    /// The computer that sent the entry, whatever its name was; clients can't ask for it.
    pub computer_guid: Option<ComputerGuid>,
    /// Inclusive (decision L6).
    pub from: Option<Timestamp>,
    /// Inclusive (decision L6).
    pub to: Option<Timestamp>,
    pub log_type: Option<LogType>,
    /// A text that Description contains, without case; clients can't ask for it.
    pub search: Option<Folded>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, value: &str) -> bool {
        Pattern::new(pattern).matches(&Folded::of(value))
    }

    /// The rule as it is worded (decision L5), tried out place by place.
    fn matches_naively(pattern: &[char], value: &[char]) -> bool {
        match pattern.split_first() {
            None => value.is_empty(),
            Some(('*', rest)) => (0..=value.len()).any(|taken| matches_naively(rest, &value[taken..])),
            Some((first, rest)) => value.first() == Some(first) && matches_naively(rest, &value[1..]),
        }
    }

    /// Decision L5.
    #[test]
    fn a_filter_matches_the_whole_value_without_case() {
        for (pattern, value) in [("RIP-01", "rip-01"), ("straße", "STRASSE"), ("é", "E\u{301}"), ("", "")] {
            assert!(matches(pattern, value), "{pattern} {value}");
        }
        for (pattern, value) in
            [("RIP", "RIP-01"), ("01", "RIP-01"), ("RIP-01", "RIP"), ("RIP-01 ", "RIP-01"), ("", "a")]
        {
            assert!(!matches(pattern, value), "{pattern} {value}");
        }
    }

    /// Decision L5.
    #[test]
    fn a_star_matches_any_run_of_characters() {
        for pattern in ["*", "**", "RIP*", "*01", "R*1", "*P*", "*RIP-01*", "R*I*P*-*0*1", "rip-01*", "*-*"] {
            assert!(matches(pattern, "RIP-01"), "{pattern}");
        }
        for pattern in ["*x*", "RIP-01*1", "1*R", "*RIP", "01*", "R*PP*1", "RIP-*-01", "*RIP-01RIP-01*"] {
            assert!(!matches(pattern, "RIP-01"), "{pattern}");
        }
        // Pieces don't share characters.
        assert!(!matches("ab*ba", "aba"));
        assert!(matches("ab*ba", "abba"));
        assert!(!matches("*ab*ab", "ab"));
    }

    /// Decision L5: nothing else is special.
    #[test]
    fn no_other_character_stands_for_another() {
        for pattern in ["a%c", "a_c", "a?c", "a.c", "[abc]bc", "a\\bc", "a.*c", "^abc$"] {
            assert!(!matches(pattern, "abc"), "{pattern}");
            assert!(matches(pattern, pattern), "{pattern}");
        }
    }

    /// The pieces are what adapters ask their databases for.
    #[test]
    fn pieces_are_the_folded_texts_between_the_stars() {
        assert_eq!(Pattern::new("Größe").pieces(), ["grösse"]);
        assert_eq!(Pattern::new("*A**b").pieces(), ["", "a", "", "b"]);
        assert_eq!(Pattern::new("").pieces(), [""]);
    }

    proptest! {
        /// Decision L5.
        #[test]
        fn a_pattern_matches_as_the_rule_is_worded(pattern in "[ab*ä]{0,8}", value in "[abäA]{0,8}") {
            let [rule, folded] = [&pattern, &value].map(|text| Folded::of(text).as_str().chars().collect::<Vec<_>>());
            prop_assert_eq!(matches(&pattern, &value), matches_naively(&rule, &folded));
        }

        /// Every value matches itself, and each of its beginnings and ends with a star.
        #[test]
        fn a_value_matches_itself_and_its_beginning_with_a_star(value in "[^*]{0,20}", cut in 0..20_usize) {
            prop_assert!(matches(&value, &value));
            // The value is cut where no two characters are one after folding.
            let folded = Folded::of(&value).into_string();
            let head: String = folded.chars().take(cut).collect();
            let tail: String = folded.chars().skip(cut).collect();
            prop_assert!(Pattern(vec![head, String::new()]).matches(&Folded::of(&value)));
            prop_assert!(Pattern(vec![String::new(), tail]).matches(&Folded::of(&value)));
        }
    }
}
