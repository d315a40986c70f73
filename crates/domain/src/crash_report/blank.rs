//! Finds out whether a content is blank while it streams by, without keeping it in memory (decision C2).

#[cfg(test)]
mod tests;

/// Whether all bytes so far are white space, in UTF-8 or UTF-16.
pub(super) struct BlankCheck {
    is_blank: bool,
    encoding: Encoding,
    /// The beginning of a character whose other bytes haven't arrived.
    rest: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Encoding {
    /// Too few bytes have arrived.
    Unknown,
    /// Without a byte-order mark. UTF-16 without a mark is recognized too, since zero bytes count as blank.
    Utf8,
    /// With a byte-order mark. The function makes a code unit of two bytes.
    Utf16(fn([u8; 2]) -> u16),
}

impl BlankCheck {
    pub(super) fn new() -> Self {
        Self { is_blank: true, encoding: Encoding::Unknown, rest: Vec::new() }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        if !self.is_blank {
            return;
        }
        self.rest.extend_from_slice(bytes);
        if let Encoding::Unknown = self.encoding {
            self.encoding = match self.rest[..] {
                [] | [0xFF | 0xFE] => Encoding::Unknown,
                [0xFF, 0xFE, ..] => Encoding::Utf16(u16::from_le_bytes),
                [0xFE, 0xFF, ..] => Encoding::Utf16(u16::from_be_bytes),
                _ => Encoding::Utf8,
            };
        }
        let checked = match self.encoding {
            Encoding::Unknown => 0,
            Encoding::Utf8 => self.check_utf8(),
            Encoding::Utf16(unit) => self.check_utf16(unit),
        };
        self.rest.drain(..checked);
    }

    /// Whether the whole content was blank. An incomplete character is not white space.
    pub(super) fn is_blank(&self) -> bool {
        self.is_blank && self.rest.is_empty()
    }

    /// Returns the number of bytes of complete characters.
    fn check_utf8(&mut self) -> usize {
        let (valid, is_broken) = match std::str::from_utf8(&self.rest) {
            Ok(text) => (text.len(), false),
            Err(error) => (error.valid_up_to(), error.error_len().is_some()),
        };
        let text = std::str::from_utf8(&self.rest[..valid]).unwrap_or_default();
        self.is_blank = !is_broken && text.chars().all(is_blank);
        valid
    }

    /// Returns the number of bytes of complete code units.
    fn check_utf16(&mut self, unit: fn([u8; 2]) -> u16) -> usize {
        let (units, _) = self.rest.as_chunks();
        // No white space has a surrogate.
        self.is_blank = units.iter().all(|&bytes| char::from_u32(unit(bytes).into()).is_some_and(is_blank));
        units.len() * 2
    }
}

/// White space, a byte-order mark, or a zero byte of UTF-16.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\0' || character == '\u{FEFF}'
}
