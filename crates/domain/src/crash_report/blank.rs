//! Whether a content that passes by is only white space, so that a blank call stack is noticed
//! without keeping it in memory (decision C2).

#[cfg(test)]
mod tests;

/// Has seen nothing but white space so far, in UTF-8, or in UTF-16 without a mark.
pub(super) struct Blank {
    blank: bool,
    /// The beginning of a character whose rest is still to come.
    open: Vec<u8>,
}

impl Blank {
    pub(super) fn new() -> Self {
        Self { blank: true, open: Vec::new() }
    }

    /// Takes up the next bytes of the content.
    pub(super) fn look_at(&mut self, bytes: &[u8]) {
        if !self.blank {
            return;
        }
        self.open.extend_from_slice(bytes);
        let (characters, broken) = match std::str::from_utf8(&self.open) {
            Ok(text) => (text, false),
            Err(error) => {
                let valid = std::str::from_utf8(&self.open[..error.valid_up_to()]);
                (valid.unwrap_or_default(), error.error_len().is_some())
            }
        };
        self.blank = !broken && characters.chars().all(is_blank);
        let seen = characters.len();
        self.open.drain(..seen);
    }

    /// Whether all of the content was blank; a character that breaks off is none of white space.
    pub(super) fn is_blank(&self) -> bool {
        self.blank && self.open.is_empty()
    }
}

/// A byte-order mark and the zero bytes of UTF-16 say as little as white space does.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\0' || character == '\u{FEFF}'
}
