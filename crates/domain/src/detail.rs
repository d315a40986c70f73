//! The particulars of a refusal, safe to be sent as a header (decision R11).

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
    let shown = crate::text::cut(value, 60);
    let dots = if shown.len() < value.len() { "..." } else { "" };
    format!("\"{shown}{dots}\"")
}
