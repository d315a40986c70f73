//! Where a request ends in the bytes of a connection. It only counts: reading and judging heads and
//! chunks is actix's work, and what is malformed it refuses whatever is found here.

use memchr::memchr;

/// How the body of a request is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes; 0 for a request without a body.
    Length(u64),
    Chunked,
    /// Up to the end of the connection.
    Open,
}

/// Follows one head or body, however its bytes are cut.
#[derive(Debug)]
pub(super) struct Scanner(Place);

#[derive(Debug)]
enum Place {
    /// In the lines of a head; whether one was seen that isn't empty, and whether this one is.
    Head {
        has_line: bool,
        is_line_empty: bool,
    },
    /// So many bytes are left.
    Counted(u64),
    Chunked(Chunked),
    Open,
    Done,
    Broken,
}

/// A place in the framing of chunks; each step expects what actix expects there.
#[derive(Debug, Clone, Copy)]
enum Chunked {
    /// The first digit of a size.
    SizeStart,
    Size(u64),
    AfterSize(u64),
    Extension(u64),
    SizeEnd(u64),
    Data(u64),
    DataEnd,
    DataEndLine,
    /// The start of a line after the last chunk.
    LastLines,
    Trailer,
    TrailerEnd,
    End,
}

impl Scanner {
    pub(super) fn head() -> Self {
        Self(Place::Head { has_line: false, is_line_empty: true })
    }

    pub(super) fn body(framing: Framing) -> Self {
        Self(match framing {
            Framing::Length(0) => Place::Done,
            Framing::Length(length) => Place::Counted(length),
            Framing::Chunked => Place::Chunked(Chunked::SizeStart),
            Framing::Open => Place::Open,
        })
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.0, Place::Done)
    }

    /// Whether the framing of chunks is malformed, so that nobody can tell where the body ends.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.0, Place::Broken)
    }

    /// How many of these next bytes belong to it; a byte that breaks the framing doesn't.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while let Some(&byte) = bytes.get(taken) {
            let available = bytes.len() - taken;
            match &mut self.0 {
                Place::Done | Place::Broken => break,
                Place::Open => taken += available,
                Place::Counted(left) => {
                    taken += count_off(left, available);
                    if *left == 0 {
                        self.0 = Place::Done;
                    }
                }
                Place::Chunked(Chunked::Data(left)) => {
                    taken += count_off(left, available);
                    if *left == 0 {
                        self.0 = Place::Chunked(Chunked::DataEnd);
                    }
                }
                Place::Chunked(Chunked::End) if byte == b'\n' => {
                    self.0 = Place::Done;
                    taken += 1;
                }
                Place::Chunked(place) => match place.after(byte) {
                    Some(next) => {
                        *place = next;
                        taken += 1;
                    }
                    None => self.0 = Place::Broken,
                },
                Place::Head { has_line, is_line_empty } => {
                    let rest = &bytes[taken..];
                    let line = memchr(b'\n', rest).map_or(rest, |end| &rest[..=end]);
                    taken += line.len();
                    if line.iter().any(|byte| !b"\r\n".contains(byte)) {
                        (*has_line, *is_line_empty) = (true, false);
                    }
                    match line.last() {
                        Some(b'\n') if *has_line && *is_line_empty => self.0 = Place::Done,
                        Some(b'\n') => *is_line_empty = true,
                        _ => {}
                    }
                }
            }
        }
        taken
    }
}

/// Follows a request through a connection that hands `size` bytes over at once. How many bytes belong to it; `None` if it
/// is not at its end.
#[cfg(feature = "fuzzing")]
pub(crate) fn follow(connection: &[u8], size: usize, body: Framing) -> Option<usize> {
    let mut place = 0;
    for mut scanner in [Scanner::head(), Scanner::body(body)] {
        while !scanner.is_done() {
            let piece = &connection[place..connection.len().min(place + size.max(1))];
            let taken = scanner.take(piece);
            if scanner.is_broken() || (taken == 0 && !scanner.is_done()) {
                return None;
            }
            place += taken;
        }
    }
    Some(place)
}

/// Takes as many bytes as are there and left; says how many.
fn count_off(left: &mut u64, available: usize) -> usize {
    let step = available.min(usize::try_from(*left).unwrap_or(usize::MAX));
    *left -= step as u64;
    step
}

impl Chunked {
    /// The place after this byte; `None` where it may not stand.
    fn after(self, byte: u8) -> Option<Self> {
        let digit = char::from(byte).to_digit(16).map(u64::from);
        Some(match (self, byte) {
            (Self::SizeStart, _) => Self::Size(digit?),
            (Self::Size(size), _) if digit.is_some() => Self::Size(size.checked_mul(16)? + digit?),
            (Self::Size(size) | Self::AfterSize(size), b' ' | b'\t') => Self::AfterSize(size),
            (Self::Size(size) | Self::AfterSize(size), b';')
            | (Self::Extension(size), b'\t' | b' '..=b'~' | 0x80..) => Self::Extension(size),
            (Self::Size(size) | Self::AfterSize(size) | Self::Extension(size), b'\r') => Self::SizeEnd(size),
            (Self::SizeEnd(0) | Self::TrailerEnd, b'\n') => Self::LastLines,
            (Self::SizeEnd(size), b'\n') => Self::Data(size),
            (Self::DataEnd, b'\r') => Self::DataEndLine,
            (Self::DataEndLine, b'\n') => Self::SizeStart,
            (Self::LastLines, b'\r') => Self::End,
            (Self::Trailer, b'\r') => Self::TrailerEnd,
            (Self::LastLines | Self::Trailer, _) => Self::Trailer,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many bytes of `text` belong to what is scanned, handed in pieces of `step` bytes.
    fn taken(mut scanner: Scanner, text: &[u8], step: usize) -> Option<usize> {
        let mut taken = 0;
        for piece in text.chunks(step) {
            let count = scanner.take(piece);
            taken += count;
            if count < piece.len() {
                break;
            }
        }
        scanner.is_done().then_some(taken)
    }

    #[test]
    fn a_head_ends_with_its_empty_line() {
        for head in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\nGET / HTTP/1.0\n\n", "GET / HTTP/1.0\r\n\n"] {
            let text = format!("{head}GET");
            assert_eq!(taken(Scanner::head(), text.as_bytes(), text.len()), Some(head.len()), "{head:?}");
        }
        assert_eq!(taken(Scanner::head(), b"GET / HTTP/1.1\r\nHost: a\r\n", 5), None);
    }

    #[test]
    fn a_chunked_body_ends_after_its_trailers() {
        for body in ["0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "00A ;x=1b\r\n0123456789\r\n0\r\nA: b\r\n\r\n"] {
            let text = format!("{body}POST");
            assert_eq!(
                taken(Scanner::body(Framing::Chunked), text.as_bytes(), text.len()),
                Some(body.len()),
                "{body:?}"
            );
        }
    }

    #[test]
    fn malformed_chunks_break_a_body_before_the_first_wrong_byte() {
        for (right, wrong) in [
            ("", "x\r\n"),
            ("", "\r\n"),
            ("5", "\n"),
            ("5 ", "5"),
            ("5;a", "\n"),
            ("1\r\na", "b"),
            ("1\r\na\r\n", "\r\n"),
            ("fffffffffffffff", "fff"),
            ("0\r\n\r", "x"),
        ] {
            let text = format!("{right}{wrong}");
            let mut scanner = Scanner::body(Framing::Chunked);
            let taken = scanner.take(text.as_bytes());
            assert!(scanner.is_broken(), "{text:?}");
            assert!(taken >= right.len() && taken < text.len(), "{text:?}");
        }
    }

    #[test]
    fn a_request_without_a_body_is_done_at_once() {
        assert_eq!(taken(Scanner::body(Framing::Length(0)), b"GET", 3), Some(0));
    }

    proptest! {
        #[test]
        fn the_cutting_changes_nothing(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..5),
            after in prop::collection::vec(any::<u8>(), 0..10),
            step in 1_usize..9,
        ) {
            let mut body = Vec::new();
            for chunk in &chunks {
                body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\n\r\n");
            let length = body.len();
            body.extend_from_slice(&after);
            prop_assert_eq!(taken(Scanner::body(Framing::Chunked), &body, step), Some(length));
            prop_assert_eq!(taken(Scanner::body(Framing::Length(length as u64)), &body, step), Some(length));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            Scanner::head().take(&bytes);
            Scanner::body(Framing::Chunked).take(&bytes);
        }
    }
}
