//! The body of a request: read with a time limit for each wait, counted and decoded.

use super::coding::Coding;
use crate::error::ApiError;
use crate::middleware::context::RequestContext;
use crate::services::Settings;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::rt::time::timeout;
use bytes::Bytes;
use domain::body::BodyError;
use domain::error::Reason;
use futures_util::stream::{self, LocalBoxStream, Stream};
use futures_util::{StreamExt, TryFutureExt};
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio_util::io::{ReaderStream, StreamReader};

/// Bytes that are decoded at once.
const DECODED_CHUNK: usize = 64 * 1024;

/// A body that is read chunk by chunk.
pub(crate) struct Body(LocalBoxStream<'static, io::Result<Bytes>>);

impl Body {
    /// The body of `request`.
    pub(crate) fn new(request: &HttpRequest, payload: &mut Payload, coding: Coding) -> Self {
        let read_timeout = Settings::of(request).read_timeout;
        let received = read(payload.take(), RequestContext::of(request), read_timeout).boxed_local();
        if coding == Coding::Identity {
            return Self(received);
        }
        let decoder = coding.decoder(StreamReader::new(received));
        let chunks = decoder.map_ok(|decoder| ReaderStream::with_capacity(decoder, DECODED_CHUNK));
        Self(chunks.try_flatten_stream().boxed_local())
    }

    /// The next decoded bytes; `None` at the end. After an error there are no more.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let next = self.0.next().await.transpose();
        next.map_err(|error| match error.get_ref().and_then(|cause| cause.downcast_ref::<BodyError>()) {
            Some(cause) => cause.clone(),
            None => BodyError::Malformed(format!("the body can't be decoded: {error}")),
        })
    }

    /// All of the body, if it has at most `limit` decoded bytes.
    pub(crate) async fn collect(mut self, limit: u64) -> Result<Vec<u8>, BodyError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if (body.len() + chunk.len()) as u64 > limit {
                return Err(BodyError::TooLarge(format!("the body is over {limit} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Refuses a body whose announced length is over `limit` bytes (decision R3). The length of an encoded body says nothing:
/// the limit counts decoded bytes (decision R10).
pub(crate) fn check_length(request: &HttpRequest, coding: Coding, limit: u64) -> Result<(), ApiError> {
    let header = request.headers().get(CONTENT_LENGTH);
    let announced: Option<u64> = header.and_then(|length| length.to_str().ok()?.trim().parse().ok());
    match announced {
        Some(length) if length > limit && coding == Coding::Identity => {
            Err(Reason::BodyTooLarge.because(format!("Content-Length is {length}, the limit is {limit}")).into())
        }
        _ => Ok(()),
    }
}

/// The bytes of a body as they arrive. It fails if the client sends none for `read_timeout`.
fn read(
    payload: Payload,
    context: Rc<RequestContext>,
    read_timeout: Duration,
) -> impl Stream<Item = io::Result<Bytes>> + 'static {
    stream::try_unfold((payload, context), move |(mut payload, context)| async move {
        let next = timeout(read_timeout, payload.next()).await;
        let received = context.received();
        match next {
            Ok(Some(Ok(chunk))) => {
                context.count_received(chunk.len());
                Ok(Some((chunk, (payload, context))))
            }
            Ok(None) => Ok(None),
            Ok(Some(Err(error))) => Err(io::Error::other(BodyError::Malformed(format!(
                "the body broke off after {received} bytes: {error}"
            )))),
            Err(_) => {
                let seconds = read_timeout.as_secs_f64();
                let detail = format!("nothing came for {seconds} s after {received} bytes of the body");
                Err(io::Error::other(BodyError::TimedOut(detail)))
            }
        }
    })
}
