//! Prepares a multipart body for multer. multer reads the heads of parts without a size limit, doesn't say what is
//! wrong with one, and takes a delimiter right after a head for content (ADR 6).
//!
//! Contents pass unchanged. Each head is checked as a whole: its size is limited, control characters are replaced, and
//! a head that multer would misread is refused with the number of its part and the reason (decisions T12, R11).

use bytes::{Buf, Bytes, BytesMut};
use domain::body::BodyError;
use futures_util::{Stream, StreamExt};
use memchr::memmem::Finder;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Most bytes of a delimiter and the head after it, and of the text before the first part.
const MAX_HEAD: usize = 64 * 1024;

/// Lines of a head that multer reads at most.
const MAX_LINES: usize = 32;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A multipart body whose heads multer can read.
pub(crate) struct PartHeads<S> {
    body: S,
    /// `--boundary`.
    delimiter: Vec<u8>,
    /// Finds the delimiter on a line of its own.
    delimiter_line: Finder<'static>,
    /// What arrived and isn't passed on yet.
    held: BytesMut,
    place: Place,
    /// Parts whose head was read.
    parts: usize,
    has_ended: bool,
    /// Whether the next poll returns `Pending`, so that multer handles the last piece first instead of buffering more.
    rests: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Preamble,
    /// From a delimiter to the end of the head after it.
    Head,
    Content,
    Epilogue,
}

type Piece = Result<Option<Bytes>, BodyError>;

impl<S> PartHeads<S> {
    pub(crate) fn new(body: S, boundary: &str) -> Self {
        let delimiter = format!("--{boundary}").into_bytes();
        Self {
            body,
            delimiter_line: Finder::new(&[b"\r\n", delimiter.as_slice()].concat()).into_owned(),
            delimiter,
            held: BytesMut::new(),
            place: Place::Preamble,
            parts: 0,
            has_ended: false,
            rests: false,
        }
    }

    /// The held bytes that may be passed on; `None` until more have arrived.
    fn next_piece(&mut self) -> Piece {
        match self.place {
            Place::Preamble => self.preamble(),
            Place::Head => self.head(),
            Place::Content => Ok(self.content()),
            Place::Epilogue => Ok(some(self.held.split())),
        }
    }

    /// Finds the first delimiter anywhere, as multer does, and drops the bytes before it.
    fn preamble(&mut self) -> Piece {
        let Some(start) = memchr::memmem::find(&self.held, &self.delimiter) else {
            return self.bounded();
        };
        self.held.advance(start);
        self.place = Place::Head;
        self.head()
    }

    fn head(&mut self) -> Piece {
        let after = self.delimiter.len();
        if self.held.len() < after + 2 {
            return Ok(None);
        }
        if self.held[after..].starts_with(b"--") {
            self.place = Place::Epilogue;
            return Ok(some(self.held.split()));
        }
        let Some(end) = memchr::memmem::find(&self.held[after..], END_OF_HEAD) else {
            return self.bounded();
        };
        let end = after + end + END_OF_HEAD.len();
        if end > MAX_HEAD {
            return Err(too_long());
        }
        // The next delimiter may follow at once: it has to be seen whole.
        if self.held.len() < end + after + 2 && !self.has_ended {
            return Ok(None);
        }
        self.parts += 1;
        let is_delimiter_next = self.held[end..].starts_with(&self.delimiter);
        let lines = trim_padding(&self.held[after..end]);
        if lines == END_OF_HEAD {
            // What .NET sends for a form without parts (decision T12).
            if self.parts == 1 && is_delimiter_next && self.held[end + after..].starts_with(b"--") {
                self.held.advance(end);
                return self.head();
            }
            return Err(self.refused("it has no headers"));
        }
        if let Some(problem) = problem(lines) {
            return Err(self.refused(problem));
        }
        if is_delimiter_next {
            return Err(self.refused("no line break stands between its head and the next delimiter"));
        }
        let mut head = self.held.split_to(end);
        replace_control_characters(&mut head[after..]);
        self.place = Place::Content;
        Ok(some(head))
    }

    /// Up to the next delimiter, or to what may be the beginning of one.
    fn content(&mut self) -> Option<Bytes> {
        match self.delimiter_line.find(&self.held) {
            Some(0) => {
                self.place = Place::Head;
                // The line break goes with the content: the head begins with its delimiter.
                some(self.held.split_to(2))
            }
            Some(end) => some(self.held.split_to(end)),
            None if self.has_ended => some(self.held.split()),
            None => {
                let kept = self.held.len().min(self.delimiter_line.needle().len() - 1);
                let tail = self.held.len() - kept;
                let begins = memchr::memchr(b'\r', &self.held[tail..]).map_or(self.held.len(), |place| tail + place);
                some(self.held.split_to(begins))
            }
        }
    }

    fn bounded(&self) -> Piece {
        if self.held.len() <= MAX_HEAD { Ok(None) } else { Err(too_long()) }
    }

    fn refused(&self, problem: &str) -> BodyError {
        BodyError::Malformed(format!("part {} can't be read: {problem}", self.parts))
    }
}

fn too_long() -> BodyError {
    BodyError::Malformed(format!("more than {MAX_HEAD} bytes stand before the content of a part"))
}

/// Without the blanks that may stand after a delimiter.
fn trim_padding(head: &[u8]) -> &[u8] {
    let padding = head.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &head[padding..]
}

/// What multer can't read in a head. `head` begins with the line break after the delimiter.
fn problem(head: &[u8]) -> Option<&'static str> {
    let text = head.strip_prefix(b"\r\n")?.strip_suffix(END_OF_HEAD)?;
    let lines = || text.split(|byte| *byte == b'\n');
    if lines().any(|line| line.starts_with(b" ") || line.starts_with(b"\t")) {
        return Some("one of its headers is folded over several lines");
    }
    if lines().count() > MAX_LINES {
        return Some("it has more than 32 headers");
    }
    lines().any(|line| !line.contains(&b':')).then_some("one of its headers has no colon")
}

/// Replaces control characters, which file names in encodings such as ISO-2022-JP contain.
fn replace_control_characters(head: &mut [u8]) {
    for byte in head.iter_mut().filter(|byte| byte.is_ascii_control() && !matches!(byte, b'\r' | b'\n' | b'\t')) {
        *byte = b'?';
    }
}

fn some(bytes: BytesMut) -> Option<Bytes> {
    (!bytes.is_empty()).then(|| bytes.freeze())
}

impl<S: Stream<Item = Result<Bytes, BodyError>> + Unpin> Stream for PartHeads<S> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if std::mem::take(&mut this.rests) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            match this.next_piece() {
                Ok(Some(piece)) => {
                    this.rests = true;
                    return Poll::Ready(Some(Ok(piece)));
                }
                Err(error) => return Poll::Ready(Some(Err(error))),
                Ok(None) if this.has_ended => {
                    // multer refuses an incomplete head.
                    return Poll::Ready(some(this.held.split()).map(Ok));
                }
                Ok(None) => {}
            }
            match ready!(this.body.poll_next_unpin(cx)) {
                Some(Ok(bytes)) => this.held.extend_from_slice(&bytes),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => this.has_ended = true,
            }
        }
    }
}
