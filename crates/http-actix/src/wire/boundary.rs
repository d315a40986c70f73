//! Where a request ends in the bytes of a connection. It only counts: reading and judging heads and
//! chunks is actix's work, and what is malformed it refuses whatever is found here.

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
    Counted(u64),
    /// In the line that gives the size of a chunk, while its digits last.
    ChunkSize {
        size: u64,
        in_digits: bool,
    },
    ChunkData {
        left: u64,
    },
    /// After the data of a chunk, up to the end of the line.
    ChunkEnd,
    Trailers {
        is_line_empty: bool,
    },
    Open,
    Done,
}

impl Scanner {
    pub(super) fn head() -> Self {
        Self(Place::Head { has_line: false, is_line_empty: true })
    }

    pub(super) fn body(framing: Framing) -> Self {
        Self(match framing {
            Framing::Length(0) => Place::Done,
            Framing::Length(length) => Place::Counted(length),
            Framing::Chunked => Place::ChunkSize { size: 0, in_digits: true },
            Framing::Open => Place::Open,
        })
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.0, Place::Done)
    }

    /// How many of these next bytes belong to it.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && !self.is_done() {
            taken += match &mut self.0 {
                Place::Open => bytes.len() - taken,
                Place::Counted(left) | Place::ChunkData { left } => {
                    let step = (bytes.len() - taken).min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= step as u64;
                    step
                }
                _ => {
                    self.0.step(bytes[taken]);
                    1
                }
            };
            self.0.advance();
        }
        taken
    }
}

impl Place {
    /// Leaves what is counted to its end.
    fn advance(&mut self) {
        match self {
            Self::Counted(0) => *self = Self::Done,
            Self::ChunkData { left: 0 } => *self = Self::ChunkEnd,
            _ => {}
        }
    }

    fn step(&mut self, byte: u8) {
        match (&mut *self, byte) {
            (Self::Head { has_line: true, is_line_empty: true } | Self::Trailers { is_line_empty: true }, b'\n') => {
                *self = Self::Done;
            }
            (Self::Head { is_line_empty, .. } | Self::Trailers { is_line_empty }, b'\n') => *is_line_empty = true,
            (Self::Head { .. } | Self::Trailers { .. }, b'\r') => {}
            (Self::Head { has_line, is_line_empty }, _) => {
                *has_line = true;
                *is_line_empty = false;
            }
            (Self::Trailers { is_line_empty }, _) => *is_line_empty = false,
            (Self::ChunkSize { size: 0, .. }, b'\n') => *self = Self::Trailers { is_line_empty: true },
            (Self::ChunkSize { size, .. }, b'\n') => *self = Self::ChunkData { left: *size },
            (Self::ChunkSize { size, in_digits }, _) => match char::from(byte).to_digit(16) {
                Some(digit) if *in_digits => *size = size.saturating_mul(16).saturating_add(digit.into()),
                _ => *in_digits = false,
            },
            (Self::ChunkEnd, b'\n') => *self = Self::ChunkSize { size: 0, in_digits: true },
            (Self::ChunkEnd | Self::Counted(_) | Self::ChunkData { .. } | Self::Open | Self::Done, _) => {}
        }
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
