//! An answer before it is HTTP, and the shapes of body that the operations answer.

use crate::error::Fault;
use crate::format::{Format, Message};
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use bytes::Bytes;
use domain::blob::ByteStream;
use domain::error::StoreError;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde::Serialize;

/// Bytes of an array that are written before they are sent.
const ARRAY_CHUNK: usize = 32 * 1024;

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) content: Content,
}

/// The body of an answer.
pub(crate) enum Content {
    /// None, as of 304.
    None,
    Whole(Bytes),
    /// A body of this size that is not sent, as the answer to HEAD.
    Announced(u64),
    Sized(u64, ByteStream),
    /// A body whose size nobody knows before its end.
    Streamed(ByteStream),
}

impl Answer {
    pub(crate) fn new(status: StatusCode, content: Content) -> Self {
        Self { status, headers: Vec::new(), content }
    }

    /// The answer of an operation that says only that it was done (decision R2).
    pub(crate) fn success(text: &str) -> Self {
        Self::message(StatusCode::OK, Format::Json, Message::Success(text))
    }

    pub(crate) fn message(status: StatusCode, format: Format, message: Message<'_>) -> Self {
        let body = format.write(message);
        Self::new(status, Content::Whole(body.into()))
            .with(&CONTENT_TYPE, HeaderValue::from_static(format.content_type()))
    }

    /// JSON text.
    pub(crate) fn json(content: Content) -> Self {
        Self::new(StatusCode::OK, content).with(&CONTENT_TYPE, HeaderValue::from_static(Format::Json.content_type()))
    }

    /// With one more header; an empty value is left out.
    pub(crate) fn with(mut self, name: &HeaderName, value: HeaderValue) -> Self {
        if !value.is_empty() {
            self.headers.push((name.clone(), value));
        }
        self
    }
}

/// Appends `value` as JSON.
pub(crate) fn push_json(text: &mut String, value: &impl Serialize) {
    // What is answered are structs of texts and numbers: writing them never fails.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}

/// A JSON array of the items of a stream, each written by `write`. The beginning is awaited, so that a
/// store that fails at once is still answered 500; a later failure breaks the body off, never ending
/// the array as if it were whole. Memory doesn't grow with the number of items.
pub(crate) async fn array<T: Send + 'static>(
    items: BoxStream<'static, Result<T, StoreError>>,
    write: fn(&T, &mut String),
) -> Result<Content, Fault> {
    let mut writer = ArrayWriter { items, write, text: String::from("["), is_first: true, ended: false };
    let beginning = writer.next_chunk().await?;
    if writer.ended {
        return Ok(Content::Whole(beginning));
    }
    let rest = stream::try_unfold(writer, |mut writer| async move {
        if writer.ended {
            return Ok(None);
        }
        let chunk = writer.next_chunk().await?;
        Ok(Some((chunk, writer)))
    });
    Ok(Content::Streamed(stream::iter([Ok(beginning)]).chain(rest).boxed()))
}

struct ArrayWriter<T> {
    items: BoxStream<'static, Result<T, StoreError>>,
    write: fn(&T, &mut String),
    text: String,
    is_first: bool,
    ended: bool,
}

impl<T> ArrayWriter<T> {
    async fn next_chunk(&mut self) -> Result<Bytes, StoreError> {
        while self.text.len() < ARRAY_CHUNK {
            let Some(item) = self.items.next().await.transpose()? else {
                self.text.push(']');
                self.ended = true;
                break;
            };
            if !std::mem::take(&mut self.is_first) {
                self.text.push(',');
            }
            (self.write)(&item, &mut self.text);
        }
        Ok(std::mem::take(&mut self.text).into())
    }
}
