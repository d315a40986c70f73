//! The particulars of a refusal, safe to be sent as a header (decision R11).

use crate::text::cut;
use std::fmt;

/// Longest detail in characters (decision R11).
const LIMIT: usize = 300;

/// Printable ASCII of at most 300 characters; what isn't printable ASCII is shown as `\u{…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail(String);

impl Detail {
    /// Makes `text` printable and cuts it to the limit.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut detail = String::new();
        for character in text.chars() {
            let before = detail.len();
            match character {
                ' '..='~' => detail.push(character),
                other => detail.extend(other.escape_unicode()),
            }
            if detail.len() > LIMIT - 3 && detail.len() > before {
                detail.truncate(before.min(LIMIT - 3));
                detail.push_str("...");
                break;
            }
        }
        Self(detail)
    }

    /// The detail as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A value as a detail quotes it: in quotation marks, cut where it is long.
pub(crate) fn quoted(value: &str) -> String {
    format!("\"{}\"", shortened(value))
}

fn shortened(value: &str) -> String {
    let shown = cut(value, 60);
    let dots = if shown.len() < value.len() { "..." } else { "" };
    shown + dots
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        Detail::new(text).to_string()
    }

    /// Decision R11.
    #[test]
    fn printable_ascii_stays_as_it_is() {
        let text: String = (' '..='~').collect();
        assert_eq!(shown(&text), text);
        assert_eq!(shown(""), "");
        assert_eq!(shown(&"x".repeat(297)), "x".repeat(297));
    }

    /// Decision R11: a header can carry nothing else.
    #[test]
    fn what_is_not_printable_ascii_is_escaped() {
        assert_eq!(shown("a\r\nX-Evil: 1\0"), "a\\u{d}\\u{a}X-Evil: 1\\u{0}");
        assert_eq!(shown("\u{7f}\t“ä🖨”"), "\\u{7f}\\u{9}\\u{201c}\\u{e4}\\u{1f5a8}\\u{201d}");
    }

    /// Decision R11: at most 300 characters, and no escape is cut in half.
    #[test]
    fn a_long_detail_is_cut_with_dots() {
        assert_eq!(shown(&"x".repeat(1_000)), "x".repeat(297) + "...");
        let escapes = shown(&"ä".repeat(1_000));
        assert!(escapes.len() <= 300);
        assert_eq!(escapes.trim_end_matches("..."), "\\u{e4}".repeat(49));
    }

    /// A quoted value is cut to 60 characters.
    #[test]
    fn a_long_value_is_quoted_by_its_beginning() {
        assert_eq!(quoted("a\"b"), "\"a\"b\"");
        assert_eq!(quoted(&"ä".repeat(60)), format!("\"{}\"", "ä".repeat(60)));
        assert_eq!(quoted(&"ä".repeat(61)), format!("\"{}...\"", "ä".repeat(60)));
    }

    proptest! {
        /// Decision R11.
        #[test]
        fn a_detail_is_always_printable_ascii_of_at_most_300_characters(text in "[ -~]{0,310}|(?s).{0,400}") {
            let detail = shown(&text);
            prop_assert!(detail.len() <= 300);
            prop_assert!(detail.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        }
    }
}
