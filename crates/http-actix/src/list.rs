//! Lists as responses: JSON arrays that are streamed from the store, so that memory doesn't grow with them (decision
//! L8).

use crate::answer::Format;
use crate::error::ApiError;
use actix_web::HttpResponse;
use bytes::Bytes;
use domain::error::StoreError;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde::Serialize;

/// Bytes that are collected before they are sent.
const CHUNK: usize = 32 * 1024;

/// Responds with a JSON array of `items`; `write` appends one item to the text.
///
/// Waits for the first chunk: if the store fails before it, the response is 500. A later failure aborts the body, so
/// that a client can't take it for complete.
pub(crate) async fn array<T: Send + 'static>(
    items: BoxStream<'static, Result<T, StoreError>>,
    write: fn(&T, &mut String),
) -> Result<HttpResponse, ApiError> {
    let mut writer = ArrayWriter { items, write, text: String::from("["), is_first: true, has_ended: false };
    let beginning = writer.next_chunk().await?;
    let mut answer = HttpResponse::Ok();
    answer.content_type(Format::Json.content_type());
    if writer.has_ended {
        return Ok(answer.body(beginning));
    }
    let rest = stream::try_unfold(writer, |mut writer| async move {
        if writer.has_ended {
            return Ok(None);
        }
        let chunk = writer.next_chunk().await?;
        Ok(Some((chunk, writer)))
    });
    Ok(answer.streaming(stream::iter([Ok::<_, StoreError>(beginning)]).chain(rest)))
}

struct ArrayWriter<T> {
    items: BoxStream<'static, Result<T, StoreError>>,
    write: fn(&T, &mut String),
    text: String,
    is_first: bool,
    has_ended: bool,
}

impl<T> ArrayWriter<T> {
    async fn next_chunk(&mut self) -> Result<Bytes, StoreError> {
        while self.text.len() < CHUNK {
            let Some(item) = self.items.next().await.transpose()? else {
                self.text.push(']');
                self.has_ended = true;
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

/// Appends `value` as JSON.
pub(crate) fn push_json(text: &mut String, value: &impl Serialize) {
    // Items are structs of texts and numbers, which can always be serialized.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}
