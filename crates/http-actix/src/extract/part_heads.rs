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
    section: Section,
    /// Parts whose head was passed on.
    parts: usize,
    has_ended: bool,
    /// Whether the next poll returns `Pending`, so that multer handles the last piece first instead of buffering more.
    pauses: bool,
}

/// The section of the body at the beginning of `held`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
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
            section: Section::Preamble,
            parts: 0,
            has_ended: false,
            pauses: false,
        }
    }

    /// The held bytes that may be passed on; `None` until more have arrived.
    fn next_piece(&mut self) -> Piece {
        match self.section {
            Section::Preamble => self.preamble(),
            Section::Head => self.head(),
            Section::Content => Ok(self.content()),
            Section::Epilogue => Ok(some(self.held.split())),
        }
    }

    /// Finds the first delimiter anywhere, as multer does, and drops the bytes before it.
    fn preamble(&mut self) -> Piece {
        let Some(start) = memchr::memmem::find(&self.held, &self.delimiter) else {
            return if self.held.len() > MAX_HEAD { Err(too_long()) } else { Ok(None) };
        };
        self.held.advance(start);
        self.section = Section::Head;
        self.head()
    }

    /// Checks the head of a part as a whole.
    fn head(&mut self) -> Piece {
        let after = self.delimiter.len();
        if self.held.len() < after + 2 {
            return Ok(None);
        }
        if self.held[after..].starts_with(b"--") {
            self.section = Section::Epilogue;
            return Ok(some(self.held.split()));
        }
        let Some(end) = self.end_of_head()? else {
            return Ok(None);
        };
        let is_delimiter_next = self.held[end..].starts_with(&self.delimiter);
        let lines = trim_padding(&self.held[after..end]);
        let is_empty = lines == END_OF_HEAD;
        if is_empty && self.parts == 0 && is_delimiter_next && self.held[end + after..].starts_with(b"--") {
            // What .NET sends for a form without parts (decision T12).
            self.held.advance(end);
            return self.head();
        }
        if let Some(problem) = problem(lines) {
            return Err(self.refuse(problem));
        }
        if is_delimiter_next {
            return Err(self.refuse("no line break stands between its head and the next delimiter"));
        }
        self.parts += 1;
        self.section = Section::Content;
        let mut head = self.held.split_to(end);
        replace_control_characters(&mut head[after..]);
        Ok(some(head))
    }

    /// The end of the head at the beginning of `held`; `None` until it has arrived, with the next delimiter where that
    /// follows at once.
    fn end_of_head(&self) -> Result<Option<usize>, BodyError> {
        let after = self.delimiter.len();
        let lines = &self.held[after..];
        let empty_line = memchr::memmem::find(lines, END_OF_HEAD);
        let next_delimiter = self.delimiter_line.find(lines);
        match (empty_line, next_delimiter) {
            (empty_line, Some(delimiter)) if empty_line.is_none_or(|empty_line| delimiter < empty_line) => {
                Err(self.refuse("no empty line stands between its head and the next delimiter"))
            }
            (Some(empty_line), _) => {
                let end = after + empty_line + END_OF_HEAD.len();
                if end > MAX_HEAD {
                    return Err(too_long());
                }
                Ok((self.has_ended || self.held.len() >= end + after + 2).then_some(end))
            }
            (None, _) if self.has_ended && memchr::memmem::find(lines, b"\n\n").is_some() => {
                Err(self.refuse("its lines don't end with CR LF"))
            }
            (None, _) if self.held.len() > MAX_HEAD => Err(too_long()),
            (None, _) => Ok(None),
        }
    }

    /// Up to the next delimiter, or to what may be the beginning of one.
    fn content(&mut self) -> Option<Bytes> {
        match self.delimiter_line.find(&self.held) {
            Some(0) => {
                self.section = Section::Head;
                // The line break goes with the content: the head begins with its delimiter.
                some(self.held.split_to(2))
            }
            Some(end) => some(self.held.split_to(end)),
            None if self.has_ended => some(self.held.split()),
            None => {
                let kept = self.held.len().min(self.delimiter_line.needle().len() - 1);
                let tail = self.held.len() - kept;
                let begins = memchr::memchr(b'\r', &self.held[tail..]).map_or(self.held.len(), |index| tail + index);
                some(self.held.split_to(begins))
            }
        }
    }

    /// The error for the part whose head begins `held`.
    fn refuse(&self, problem: &str) -> BodyError {
        BodyError::Malformed(format!("part {} can't be read: {problem}", self.parts + 1))
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
    if head == END_OF_HEAD {
        return Some("it has no headers");
    }
    let Some(text) = head.strip_prefix(b"\r\n") else {
        return Some("other text follows the delimiter in its line");
    };
    let text = text.strip_suffix(END_OF_HEAD)?;
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
        if std::mem::take(&mut this.pauses) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            match this.next_piece() {
                Ok(Some(piece)) => {
                    this.pauses = true;
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
