//! A call stack as text. Its bytes are kept as they were sent, in whichever encoding.

use crate::cli::output::Out;
use crate::cli::table::push_visible;
use anyhow::Result;
use domain::blob::ByteStream;
use futures_util::TryStreamExt;

/// Bytes of text that one line of JSON holds at most.
const MOST_IN_JSON: usize = 16 * 1024 * 1024;

/// Blanks that a tabulator is shown as.
const TAB: &str = "    ";

/// Prints a call stack line by line. No line is cut: whoever reads a stack needs all of it.
pub(super) async fn print(mut content: ByteStream, out: &mut Out<'_>) -> Result<()> {
    let mut decoder = Decoder::default();
    let mut is_open = false;
    let mut shown = String::new();
    loop {
        let chunk = content.try_next().await?;
        let text = match &chunk {
            Some(bytes) => decoder.take(bytes),
            None => decoder.end(),
        };
        for character in text.chars() {
            match character {
                '\n' => shown.push('\n'),
                // Line ends of Windows.
                '\r' => {}
                '\t' => shown.push_str(TAB),
                other => push_visible(&mut shown, other),
            }
        }
        if let Some(last) = shown.chars().last() {
            is_open = last != '\n';
        }
        out.bytes(shown.as_bytes())?;
        shown.clear();
        if chunk.is_none() {
            return if is_open { out.line("") } else { Ok(()) };
        }
    }
}

/// The text of a call stack, cut where it is longer than a line of JSON should be.
pub(super) async fn text(mut content: ByteStream) -> Result<String> {
    let mut decoder = Decoder::default();
    let mut text = String::new();
    while let Some(bytes) = content.try_next().await? {
        text += &decoder.take(&bytes);
        if text.len() >= MOST_IN_JSON {
            return Ok(text);
        }
    }
    Ok(text + &decoder.end())
}

/// Reads UTF-8, or UTF-16 where a byte-order mark says so. What is neither becomes U+FFFD.
#[derive(Default)]
struct Decoder {
    encoding: Option<Encoding>,
    /// Bytes that may go on in the next chunk.
    rest: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16(fn([u8; 2]) -> u16),
}

impl Decoder {
    fn take(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        if self.encoding.is_none() && self.rest.len() < 3 {
            return String::new();
        }
        self.decode(false)
    }

    fn end(&mut self) -> String {
        self.decode(true)
    }

    fn decode(&mut self, is_end: bool) -> String {
        let (encoding, mark) = match (self.encoding, self.rest.as_slice()) {
            (Some(encoding), _) => (encoding, 0),
            (None, [0xFF, 0xFE, ..]) => (Encoding::Utf16(u16::from_le_bytes), 2),
            (None, [0xFE, 0xFF, ..]) => (Encoding::Utf16(u16::from_be_bytes), 2),
            (None, [0xEF, 0xBB, 0xBF, ..]) => (Encoding::Utf8, 3),
            (None, _) => (Encoding::Utf8, 0),
        };
        self.encoding = Some(encoding);
        let bytes = &self.rest[mark..];
        let whole = match encoding {
            _ if is_end => bytes.len(),
            Encoding::Utf8 => whole_utf8(bytes),
            Encoding::Utf16(read) => whole_utf16(bytes, read),
        };
        let text = match encoding {
            Encoding::Utf8 => String::from_utf8_lossy(&bytes[..whole]).into_owned(),
            Encoding::Utf16(read) => utf16(&bytes[..whole], read),
        };
        self.rest.drain(..mark + whole);
        text
    }
}

/// Bytes before a character that is not complete yet.
fn whole_utf8(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    for start in (from..bytes.len()).rev() {
        let needed = match bytes[start] {
            0x00..=0x7F => return bytes.len(),
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
        };
        return if start + needed > bytes.len() { start } else { bytes.len() };
    }
    bytes.len()
}

/// Bytes before a unit or a pair of them that is not complete yet.
fn whole_utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> usize {
    let units = bytes.len() / 2 * 2;
    match bytes[..units].last_chunk::<2>() {
        Some(last) if (0xD800..0xDC00).contains(&read(*last)) => units - 2,
        _ => units,
    }
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| read(*pair));
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    text.chain(odd.iter().map(|_| char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::error::StoreError;
    use futures_util::stream::{self, StreamExt};

    fn stream(bytes: &[u8], length: usize) -> ByteStream {
        let chunks: Vec<_> = bytes.chunks(length).map(|chunk| Ok::<_, StoreError>(chunk.to_vec().into())).collect();
        stream::iter(chunks).boxed()
    }

    async fn printed(bytes: &[u8], length: usize) -> String {
        let mut answer = Vec::new();
        print(stream(bytes, length), &mut Out::new(&mut answer)).await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    const STACK: &str = "Größe 🖨 main.cpp:12\r\n\tat 日本語()\n";

    #[tokio::test]
    async fn every_encoding_is_read_however_it_is_cut() {
        let shown = "Größe 🖨 main.cpp:12\n    at 日本語()\n";
        let utf16 = |bytes: fn(u16) -> [u8; 2], mark: [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(STACK.encode_utf16().flat_map(bytes)).collect()
        };
        let forms = [
            STACK.as_bytes().to_vec(),
            [&[0xEF, 0xBB, 0xBF], STACK.as_bytes()].concat(),
            utf16(u16::to_le_bytes, [0xFF, 0xFE]),
            utf16(u16::to_be_bytes, [0xFE, 0xFF]),
        ];
        for form in forms {
            for length in 1..=form.len() {
                assert_eq!(printed(&form, length).await, shown, "{length}");
                assert_eq!(text(stream(&form, length)).await.unwrap(), STACK);
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_text_is_shown_as_such_and_drives_no_terminal() {
        assert_eq!(printed(b"\xFF\x80a\x1b[2J\xC3", 1).await, "\u{FFFD}\u{FFFD}a\\x1b[2J\u{FFFD}\n");
        assert_eq!(printed(b"", 1).await, "");
        assert_eq!(printed(b"a", 1).await, "a\n");
        assert_eq!(printed(b"\xFF\xFEa\0\x1b", 2).await, "a\u{FFFD}\n");
    }
}
