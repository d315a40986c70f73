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

/// Bytes between the content of two parts at most: a boundary and the headers of a part.
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
    Open {
        multipart: Multipart<'static>,
        field: Option<Field<'static>>,
    },
    /// After the last part.
    Ended,
    Broken(BodyError),
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
        let guarded = Guard { body, held: Bytes::new(), between: Arc::clone(&self.between), rests: false };
        self.state = State::Open { multipart: Multipart::new(guarded, boundary), field: None };
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
        let (multipart, field) = match &mut self.state {
            State::Open { multipart, field } => (multipart, field),
            State::Broken(error) => return Err(error.clone()),
            State::Unopened { .. } | State::Ended => return Ok(None),
        };
        *field = None;
        self.between.store(0, Ordering::Relaxed);
        let next = multipart.next_field().await;
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
        *field = Some(found);
        Ok(Some(head))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let State::Open { field: Some(field), .. } = &mut self.state else {
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
/// one, without end.
struct Guard<Body> {
    body: Body,
    held: Bytes,
    between: Arc<AtomicUsize>,
    /// Between parts multer is to look at each step before it gets the next.
    rests: bool,
}

impl<Body: Stream<Item = Result<Bytes, BodyError>> + Unpin> Stream for Guard<Body> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let between = self.between.load(Ordering::Relaxed);
        let is_within = between == COUNTING_OFF;
        if !is_within && std::mem::take(&mut self.rests) {
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
