//! The parts of a multipart/form-data body, read by multer while they arrive.

use crate::headers::{essence, parameter, text};
use crate::intake::BodyReader;
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use domain::body::{BodyError, PartHead, PartSource};
use futures_util::{Stream, StreamExt, stream};
use multer::{Field, Multipart};
use percent_encoding::percent_decode_str;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// Parts of a body at most.
const MAX_PARTS: usize = 1000;

/// Bytes that are read for a boundary and the headers of a part at most, beside what arrived together
/// with the content before.
const MAX_BETWEEN: usize = 64 * 1024;

/// Bytes that are handed on at once between two parts.
const STEP: usize = 4 * 1024;

/// The parts of a body.
pub(crate) struct MultipartParts {
    state: State,
    /// Bytes read since the content of the last part ended; `COUNTING_OFF` within a part.
    between: Arc<AtomicUsize>,
    parts: usize,
}

enum State {
    Unopened {
        body: BodyReader,
        boundary: String,
    },
    Open(Box<Open>),
    /// After the last part.
    Ended,
    Broken(BodyError),
}

struct Open {
    multipart: Multipart<'static>,
    field: Option<Field<'static>>,
}

const COUNTING_OFF: usize = usize::MAX;

impl MultipartParts {
    pub(crate) fn new(body: BodyReader, boundary: String) -> Self {
        Self { state: State::Unopened { body, boundary }, between: Arc::default(), parts: 0 }
    }

    async fn open(&mut self) -> Result<(), BodyError> {
        let (mut body, boundary) = match std::mem::replace(&mut self.state, State::Ended) {
            State::Unopened { body, boundary } => (body, boundary),
            opened => {
                self.state = opened;
                return Ok(());
            }
        };
        // What .NET sends for a form without parts; read strictly, it holds one part with nothing at all.
        let empty_form = format!("--{boundary}\r\n\r\n--{boundary}--");
        let mut beginning = BytesMut::new();
        while beginning.len() < empty_form.len() && empty_form.as_bytes().starts_with(&beginning) {
            match body.next().await {
                Ok(Some(chunk)) => beginning.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(self.fail(error)),
            }
        }
        if beginning.starts_with(empty_form.as_bytes()) {
            return Ok(());
        }
        let body = stream::iter([Ok(beginning.freeze())]).chain(body);
        let between = Arc::clone(&self.between);
        let guarded = Guard { body, held: Bytes::new(), between, rests: false, was_within: false };
        self.state = State::Open(Box::new(Open { multipart: Multipart::new(guarded, boundary), field: None }));
        Ok(())
    }

    fn fail(&mut self, error: BodyError) -> BodyError {
        self.state = State::Broken(error.clone());
        error
    }

    fn reading_failed(&mut self, error: &multer::Error) -> BodyError {
        let error = match error {
            multer::Error::StreamReadFailed(cause) => match cause.downcast_ref::<BodyError>() {
                Some(error) => error.clone(),
                None => BodyError::Malformed("the body can't be read".to_owned()),
            },
            multer::Error::IncompleteStream | multer::Error::IncompleteFieldData { .. } => BodyError::Malformed(
                format!("the multipart body broke off; whole parts before: {}", self.whole_parts()),
            ),
            other => BodyError::Malformed(format!("the multipart body can't be parsed: {other}")),
        };
        self.fail(error)
    }

    fn whole_parts(&self) -> usize {
        self.parts.saturating_sub(1)
    }
}

#[async_trait]
impl PartSource for MultipartParts {
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError> {
        self.open().await?;
        while self.chunk().await?.is_some() {}
        let open = match &mut self.state {
            State::Open(open) => open,
            State::Broken(error) => return Err(error.clone()),
            State::Unopened { .. } | State::Ended => return Ok(None),
        };
        open.field = None;
        self.between.store(0, Ordering::Relaxed);
        let next = open.multipart.next_field().await;
        self.between.store(COUNTING_OFF, Ordering::Relaxed);
        let found = match next {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.state = State::Ended;
                return Ok(None);
            }
            Err(error) => return Err(self.reading_failed(&error)),
        };
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(self.fail(BodyError::TooLarge(format!("the body has more than {MAX_PARTS} parts"))));
        }
        // Without any header multer takes content for headers; a form part must have one.
        if found.headers().is_empty() {
            return Err(self.fail(BodyError::Malformed(format!("part {} has no headers", self.parts))));
        }
        let head = part_head(&found);
        open.field = Some(found);
        Ok(Some(head))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let State::Open(open) = &mut self.state else {
            return Ok(None);
        };
        let Some(field) = &mut open.field else {
            return Ok(None);
        };
        loop {
            match field.chunk().await {
                Ok(Some(bytes)) if bytes.is_empty() => {}
                Ok(bytes) => return Ok(bytes),
                Err(error) => return Err(self.reading_failed(&error)),
            }
        }
    }
}

fn part_head(field: &Field<'_>) -> PartHead {
    let header = |name: &str| field.headers().get(name).map(|value| text(value.as_bytes()));
    let disposition = header("content-disposition");
    let of_disposition = |name: &str| disposition.as_deref().and_then(|header| parameter(header, name));
    let extended = of_disposition("filename*").as_deref().and_then(decode_extended);
    let content_type = header("content-type").map(|header| essence(&header).to_ascii_lowercase());
    PartHead {
        name: of_disposition("name"),
        file_name: extended.or_else(|| of_disposition("filename")),
        content_type: content_type.filter(|content_type| !content_type.is_empty()),
    }
}

/// The form of `filename*` (RFC 5987): `UTF-8'en'na%C3%AFve.icc`.
fn decode_extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    let is_utf8 = charset.eq_ignore_ascii_case("utf-8");
    is_utf8.then(|| percent_decode_str(encoded).decode_utf8_lossy().into_owned())
}

/// Bounds what multer buffers: it would collect the headers of a part, or what stands before the first
/// one, without end. And where the end of a broken body is there already, it would hand on less of it than
/// where the end comes later: what is answered to it must not depend on that.
struct Guard<Body> {
    body: Body,
    held: Bytes,
    between: Arc<AtomicUsize>,
    /// Multer is to look at each piece before it gets the next, or the end.
    rests: bool,
    /// The same where a part begins: it may have the content already.
    was_within: bool,
}

impl<Body: Stream<Item = Result<Bytes, BodyError>> + Unpin> Stream for Guard<Body> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let between = self.between.load(Ordering::Relaxed);
        let is_within = between == COUNTING_OFF;
        let is_elsewhere = std::mem::replace(&mut self.was_within, is_within) != is_within;
        if std::mem::take(&mut self.rests) || is_elsewhere {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.held.is_empty() {
            match std::task::ready!(self.body.poll_next_unpin(cx)) {
                Some(Ok(bytes)) => self.held = bytes,
                other => return Poll::Ready(other),
            }
        }
        if is_within {
            self.rests = true;
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.held))));
        }
        if between >= MAX_BETWEEN {
            let message = format!("more than {MAX_BETWEEN} bytes stand before the content of a part");
            return Poll::Ready(Some(Err(BodyError::Malformed(message))));
        }
        let length = self.held.len().min(STEP);
        let step = self.held.split_to(length);
        self.between.store(between + length, Ordering::Relaxed);
        self.rests = true;
        Poll::Ready(Some(Ok(step)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_rt::System;
    use proptest::prelude::*;

    const BOUNDARY: &str = "bound";

    fn chunks(body: &[u8], size: usize) -> impl Iterator<Item = Result<Bytes, BodyError>> {
        body.chunks(size).map(|chunk| Ok(Bytes::copy_from_slice(chunk)))
    }

    /// Every part of the body with its content.
    fn read(body: BodyReader) -> Result<Vec<(PartHead, Vec<u8>)>, BodyError> {
        System::new().block_on(async move {
            let mut source = MultipartParts::new(body, BOUNDARY.to_owned());
            let mut parts = Vec::new();
            while let Some(head) = source.next_part().await? {
                let mut content = Vec::new();
                while let Some(bytes) = source.chunk().await? {
                    content.extend_from_slice(&bytes);
                }
                parts.push((head, content));
            }
            Ok(parts)
        })
    }

    fn read_text(body: &str) -> Result<Vec<(PartHead, Vec<u8>)>, BodyError> {
        read(BodyReader::of(chunks(body.as_bytes(), body.len().max(1))))
    }

    fn form(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (head, content) in parts {
            body.extend_from_slice(format!("--{BOUNDARY}\r\n{head}\r\n\r\n").as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{BOUNDARY}--").as_bytes());
        body
    }

    /// Contents that look like boundaries, or nearly.
    fn any_content() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..20),
            prop::sample::select(vec![&b"\r\n"[..], b"\r", b"\n--", b"\r\n--", b"\r\n--boun", b"--bound", b"-"])
                .prop_map(<[u8]>::to_vec),
        ];
        let content = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
        content.prop_filter("a boundary", |content| !content.windows(9).any(|window| window == b"\r\n--bound"))
    }

    proptest! {
        #[test]
        fn the_cutting_of_a_body_changes_nothing(
            contents in prop::collection::vec(any_content(), 0..5),
            size in 1_usize..60,
            after in any::<bool>(),
        ) {
            let head = |place: usize| format!("Content-Disposition: form-data; name=\"part {place}\"");
            let parts: Vec<_> = contents.iter().enumerate().map(|(place, content)| (head(place), content.clone())).collect();
            let mut body = form(&parts);
            if after {
                body.extend_from_slice(b"\r\nepilogue");
            }
            let found = read(BodyReader::of(chunks(&body, size))).unwrap();
            let found: Vec<_> = found.into_iter().map(|(head, content)| (head.name, content)).collect();
            let expected: Vec<_> =
                contents.into_iter().enumerate().map(|(place, content)| (Some(format!("part {place}")), content)).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_body_that_breaks_off_is_malformed(content in any_content(), size in 1_usize..60, cut in 1_usize..1000) {
            let body = form(&[("Content-Type: text/plain".to_owned(), content)]);
            // Without its last byte the closing boundary isn't one.
            let cut = body.len() - 1 - cut % body.len();
            prop_assert!(matches!(read(BodyReader::of(chunks(&body[..cut], size))), Err(BodyError::Malformed(_))));
        }

        #[test]
        fn arbitrary_bytes_never_panic_or_hang(
            body in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\r\n-bound:;=\"".to_vec())], 0..300),
            size in 1_usize..60,
        ) {
            let _ = read(BodyReader::of(chunks(&body, size)));
            let begun = [b"--bound\r\n".to_vec(), body].concat();
            let _ = read(BodyReader::of(chunks(&begun, size)));
        }
    }

    /// So that one that is too large as well is answered the same however it arrives.
    #[test]
    fn a_body_that_breaks_off_is_handed_on_up_to_there() {
        let body = [b"--bound\r\nContent-Type: text/plain\r\n\r\n".as_slice(), &[b'x'; 100], b"\r\n--bou"].concat();
        for size in [1, 7, 60, body.len()] {
            let body = BodyReader::of(chunks(&body, size));
            let handed_on = System::new().block_on(async move {
                let mut source = MultipartParts::new(body, BOUNDARY.to_owned());
                source.next_part().await.unwrap();
                let mut length = 0;
                loop {
                    match source.chunk().await {
                        Ok(Some(bytes)) => length += bytes.len(),
                        Ok(None) => panic!("the part is whole"),
                        Err(error) => return (length, error),
                    }
                }
            });
            assert!(matches!(handed_on, (100, BodyError::Malformed(_))), "{size}: {handed_on:?}");
        }
    }

    #[test]
    fn what_a_part_says_of_itself_is_read_leniently() {
        // Decisions T11, C1.
        let head = |lines: &str| read_text(&format!("--bound\r\n{lines}\r\n\r\nx\r\n--bound--")).unwrap().remove(0).0;
        let part = |name: Option<&str>, file_name: Option<&str>, content_type: Option<&str>| PartHead {
            name: name.map(str::to_owned),
            file_name: file_name.map(str::to_owned),
            content_type: content_type.map(str::to_owned),
        };
        let expected = [
            ("CONTENT-DISPOSITION: Form-Data; NAME=JsonString", part(Some("JsonString"), None, None)),
            ("Content-Type: Text/Plain; charset=x", part(None, None, Some("text/plain"))),
            ("Content-Type: not a type", part(None, None, Some("not a type"))),
            ("Content-Disposition: form-data; name=\"\"", part(Some(""), None, None)),
            (
                "Content-Disposition: form-data; name=\"a\"; filename=\"plain\"; filename*=utf-8''%E2%82%AC%20x",
                part(Some("a"), Some("€ x"), None),
            ),
            (
                "Content-Disposition: form-data; filename=\"x; name=no\"; name=\"yes\"",
                part(Some("yes"), Some("x; name=no"), None),
            ),
            ("X-Other: 1", part(None, None, None)),
        ];
        for (lines, part) in expected {
            assert_eq!(head(lines), part, "{lines}");
        }
    }

    #[test]
    fn a_name_that_is_not_utf8_is_read_as_latin1() {
        let body = b"--bound\r\nContent-Disposition: form-data; name=\"Gr\xf6\xdfe\"\r\n\r\nx\r\n--bound--";
        let parts = read(BodyReader::of(chunks(body, 1000))).unwrap();
        assert_eq!(parts[0].0.name.as_deref(), Some("Größe"));
    }

    #[test]
    fn a_form_may_have_no_part_and_text_around() {
        // Decision T12.
        for body in ["--bound--", "preamble\r\n--bound--\r\nepilogue", "--bound\r\n\r\n--bound--\r\n"] {
            assert_eq!(read_text(body), Ok(Vec::new()), "{body:?}");
        }
        assert_eq!(read_text("--bound \t\r\nA: b\r\n\r\nx\r\n--bound--").map(|parts| parts.len()), Ok(1));
    }

    #[test]
    fn what_stands_before_a_content_is_bounded() {
        let head = |length: usize| format!("--bound\r\nX: {}\r\n\r\nx\r\n--bound--", "y".repeat(length));
        assert!(read_text(&head(60_000)).is_ok());
        for body in [head(80_000), "y".repeat(80_000)] {
            let chunks = chunks(body.as_bytes(), 64 * 1024);
            let Err(BodyError::Malformed(detail)) = read(BodyReader::of(chunks)) else {
                panic!("accepted");
            };
            assert_eq!(detail, "more than 65536 bytes stand before the content of a part");
        }
    }

    #[test]
    fn parts_are_counted() {
        let parts = |count: usize| form(&vec![("A: b".to_owned(), b"x".to_vec()); count]);
        assert_eq!(read(BodyReader::of(chunks(&parts(1000), 5000))).map(|parts| parts.len()), Ok(1000));
        let many = read(BodyReader::of(chunks(&parts(1001), 5000)));
        assert_eq!(many, Err(BodyError::TooLarge("the body has more than 1000 parts".to_owned())));
    }

    #[test]
    fn a_part_without_headers_is_malformed() {
        let error = read_text("--bound\r\n\r\nx\r\n--bound\r\nA: b\r\n\r\ny\r\n--bound--");
        assert_eq!(error, Err(BodyError::Malformed("part 1 has no headers".to_owned())));
    }

    #[test]
    fn what_the_body_ends_with_is_passed_on() {
        let failure = BodyError::TimedOut("nothing came".to_owned());
        let begun = b"--bound\r\nA: b\r\n\r\nx";
        for start in [&b""[..], b"--bou", begun] {
            let chunks = [Ok(Bytes::copy_from_slice(start)), Err(failure.clone())];
            assert_eq!(read(BodyReader::of(chunks)), Err(failure.clone()));
        }
    }

    #[test]
    fn a_part_that_is_not_read_is_skipped() {
        let body = form(&[("A: b".to_owned(), vec![b'x'; 200_000]), ("C: d".to_owned(), b"y".to_vec())]);
        System::new().block_on(async {
            let mut source = MultipartParts::new(BodyReader::of(chunks(&body, 10_000)), BOUNDARY.to_owned());
            for _ in 0..2 {
                assert!(source.next_part().await.unwrap().is_some());
            }
            assert_eq!(source.chunk().await.unwrap().as_deref(), Some(&b"y"[..]));
            assert_eq!(source.next_part().await, Ok(None));
            assert_eq!(source.next_part().await, Ok(None));
        });
    }
}
