//! The text of a call stack, whose bytes are stored as they were sent (decision C4).

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::cmp::Ordering;

/// Bytes of a call stack that are analyzed at most. Frames that matter come first.
pub const MAX_TEXT: usize = 1024 * 1024;

/// The text in the encoding that [`encoding_of`] finds. What is malformed in it becomes U+FFFD.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    let (text, _) = encoding_of(bytes).decode_with_bom_removal(bytes);
    text.into_owned()
}

/// The encoding of a text by its beginning: that of its byte-order mark; UTF-16 where bytes are zero, since no text has
/// U+0000; UTF-8; else Windows-1252 (decision I4).
#[must_use]
pub fn encoding_of(head: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return encoding;
    }
    let zeros = |offset| head.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    match zeros(0).cmp(&zeros(1)) {
        Ordering::Less => UTF_16LE,
        Ordering::Greater => UTF_16BE,
        // The last character may continue after the head.
        Ordering::Equal if head.len() - Encoding::utf8_valid_up_to(head) < 4 => UTF_8,
        Ordering::Equal => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Größe main.cpp:12\r\n";

    /// Decision I4.
    #[test]
    fn a_byte_order_mark_names_the_encoding() {
        let utf16 = |bytes: fn(u16) -> [u8; 2], mark: &[u8]| -> Vec<u8> {
            mark.iter().copied().chain(TEXT.encode_utf16().flat_map(bytes)).collect()
        };
        for form in [
            [b"\xEF\xBB\xBF", TEXT.as_bytes()].concat(),
            utf16(u16::to_le_bytes, b"\xFF\xFE"),
            utf16(u16::to_be_bytes, b"\xFE\xFF"),
            utf16(u16::to_le_bytes, b""),
        ] {
            assert_eq!(decode(&form), TEXT);
        }
    }

    #[test]
    fn a_text_that_is_no_utf_8_is_windows_1252() {
        assert_eq!(decode(TEXT.as_bytes()), TEXT);
        assert_eq!(decode(b"Gr\xF6\xDFe \x80 and more text"), "Größe € and more text");
    }
}
