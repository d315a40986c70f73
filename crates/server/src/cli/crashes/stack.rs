//! A call stack as text. Its bytes are stored as they were sent, in any encoding (decision C4).

use crate::cli::output::Out;
use crate::cli::table::push_escaped;
use anyhow::Result;
use domain::blob::ByteStream;
use domain::call_stack::encoding_of;
use encoding_rs::Decoder;
use futures_util::TryStreamExt;

/// Bytes of text that one line of JSON holds at most.
const MAX_JSON_TEXT: usize = 16 * 1024 * 1024;

/// Bytes by which the encoding is recognized.
const HEAD: usize = 4096;

/// Blanks that a tabulator is shown as.
const TAB: &str = "    ";

/// Prints a call stack line by line, whole, with characters escaped that would control the terminal.
pub(super) async fn print(content: ByteStream, out: &mut Out<'_>) -> Result<()> {
    let mut text = Text::of(content);
    let mut is_line_open = false;
    while let Some(piece) = text.next().await? {
        let mut shown = String::with_capacity(piece.len());
        for character in piece.chars() {
            match character {
                '\n' => shown.push('\n'),
                // Windows ends lines with it.
                '\r' => {}
                '\t' => shown.push_str(TAB),
                other => push_escaped(&mut shown, other),
            }
        }
        is_line_open = shown.chars().last().map_or(is_line_open, |last| last != '\n');
        out.bytes(shown.as_bytes())?;
    }
    if is_line_open { out.line("") } else { Ok(()) }
}

/// The text of a call stack, cut where it is longer than a line of JSON should be.
pub(super) async fn text(content: ByteStream) -> Result<String> {
    let (mut text, mut whole) = (Text::of(content), String::new());
    while let Some(piece) = text.next().await? {
        whole += &piece;
        if whole.len() >= MAX_JSON_TEXT {
            break;
        }
    }
    Ok(whole)
}

/// A stream of bytes, decoded. What is malformed in its encoding becomes U+FFFD.
struct Text {
    content: ByteStream,
    /// `None` before the encoding is recognized, and after the end.
    decoder: Option<Decoder>,
    is_ended: bool,
}

impl Text {
    fn of(content: ByteStream) -> Self {
        Self { content, decoder: None, is_ended: false }
    }

    /// The next piece; `None` at the end.
    async fn next(&mut self) -> Result<Option<String>> {
        if self.is_ended {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let wanted = if self.decoder.is_none() { HEAD } else { 1 };
        while bytes.len() < wanted && !self.is_ended {
            match self.content.try_next().await? {
                Some(chunk) => bytes.extend_from_slice(&chunk),
                None => self.is_ended = true,
            }
        }
        let decoder = self.decoder.get_or_insert_with(|| encoding_of(&bytes).new_decoder_with_bom_removal());
        let mut text =
            String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() * 3 + 16));
        // The text has room for all of it, so that one call decodes it.
        let _ = decoder.decode_to_string(&bytes, &mut text, self.is_ended);
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::error::StoreError;
    use futures_util::stream::{self, StreamExt};

    fn stream(bytes: &[u8], length: usize) -> ByteStream {
        let chunks: Vec<_> = bytes.chunks(length).map(|chunk| Ok::<_, StoreError>(chunk.to_vec().into())).collect();
        stream::iter(chunks).boxed()
    }

    async fn printed(bytes: &[u8], length: usize) -> String {
        let mut answer = Vec::new();
        print(stream(bytes, length), &mut Out::new(&mut answer, Screen::PIPE)).await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    const STACK: &str = "Größe 🖨 main.cpp:12\r\n\tat 日本語()\n";

    #[tokio::test]
    async fn every_encoding_is_read_however_it_is_cut() {
        let shown = "Größe 🖨 main.cpp:12\n    at 日本語()\n";
        let utf16 = |bytes: fn(u16) -> [u8; 2], mark: &[u8]| -> Vec<u8> {
            mark.iter().copied().chain(STACK.encode_utf16().flat_map(bytes)).collect()
        };
        let forms = [
            STACK.as_bytes().to_vec(),
            [&[0xEF, 0xBB, 0xBF], STACK.as_bytes()].concat(),
            utf16(u16::to_le_bytes, &[0xFF, 0xFE]),
            utf16(u16::to_be_bytes, &[0xFE, 0xFF]),
            utf16(u16::to_le_bytes, &[]),
            utf16(u16::to_be_bytes, &[]),
        ];
        for form in forms {
            for length in 1..=form.len() {
                assert_eq!(printed(&form, length).await, shown, "{length}");
                assert_eq!(text(stream(&form, length)).await.unwrap(), STACK);
            }
        }
    }

    #[tokio::test]
    async fn a_stack_in_an_old_encoding_of_windows_is_readable() {
        assert_eq!(printed(b"Gr\xF6\xDFe 12 \x80\r\n", 3).await, "Größe 12 €\n");
    }

    #[tokio::test]
    async fn a_long_stack_is_read_whole() {
        let long = "at Größe 日本語() 🖨\n".repeat(1000);
        for length in [1, HEAD - 1, HEAD + 1, 1 << 20] {
            assert_eq!(printed(long.as_bytes(), length).await, long);
        }
    }

    #[tokio::test]
    async fn malformed_text_shows_and_controls_no_terminal() {
        assert_eq!(printed(b"a\x1b[2J\xC3", 1).await, "a\\x1b[2J\u{FFFD}\n");
        assert_eq!(printed(b"", 1).await, "");
        assert_eq!(printed(b"a", 1).await, "a\n");
        assert_eq!(printed(b"\xFF\xFEa\0\x1b", 2).await, "a\u{FFFD}\n");
    }
}
