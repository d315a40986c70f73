//! Text as people write it: what is kept of it and when two texts are equal "without case".

#[cfg(test)]
mod tests;

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizer, DecomposingNormalizer};

/// A text prepared for comparison "without case" by Unicode's canonical caseless matching (D145): decomposed, folded in full,
/// and normalised again (decision R14).
///
/// Two texts are equal without case exactly if their `Folded` forms are equal byte for byte, so
/// every database compares them alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folded(String);

impl Folded {
    /// Folds `text` (decision R14).
    #[must_use]
    pub fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self(text.to_ascii_lowercase());
        }
        let decomposed = DecomposingNormalizer::new_nfd();
        let folded = CaseMapper::new().fold_string(&decomposed.normalize(text)).into_owned();
        Self(ComposingNormalizer::new_nfc().normalize(&folded).into_owned())
    }

    /// Takes up a text that was folded before, as a database column holds it.
    #[must_use]
    pub fn from_stored(folded: String) -> Self {
        Self(folded)
    }

    /// The folded text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Hands the folded text out.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Text as it is stored: U+0000 becomes U+FFFD, all else stays byte for byte (decision R9).
#[must_use]
pub fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// Whether a required text counts as missing: empty or only white space (decision R9).
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Cuts `text` to at most `limit` characters.
#[must_use]
pub fn cut(text: &str, limit: usize) -> String {
    text.chars().take(limit).collect()
}

/// Whether a character is unsafe to show, since it may control a terminal, is invisible or reorders text: control
/// characters (C0, DEL, C1), line separators, direction marks and tags. Joiners are safe: scripts and emoji need them.
#[must_use]
pub fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}
