//! The body of a request: read with a time limit for each wait, counted and decoded.

use super::coding::{Coding, Decoder};
use crate::error::ApiError;
use crate::middleware::context::RequestContext;
use crate::services::Settings;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::rt::time::{Sleep, sleep};
use bytes::{Bytes, BytesMut};
use domain::body::BodyError;
use domain::error::Reason;
use futures_util::{Stream, StreamExt};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio_util::io::StreamReader;

/// Bytes that are decoded at once.
const DECODED_CHUNK: usize = 64 * 1024;

/// A body that is read chunk by chunk.
pub(crate) struct Body(State);

enum State {
    Plain(TimedPayload),
    /// Encoded; decoding begins with the first chunk.
    Encoded(TimedPayload, Coding),
    Decoding(Decoder),
    Ended,
}

impl Body {
    /// The body of `request`.
    pub(crate) fn new(request: &HttpRequest, payload: &mut Payload, coding: Coding) -> Self {
        let payload = TimedPayload {
            payload: payload.take(),
            context: RequestContext::of(request),
            read_timeout: Settings::of(request).read_timeout,
            waiting: None,
        };
        Self(if coding == Coding::Identity { State::Plain(payload) } else { State::Encoded(payload, coding) })
    }

    /// The next decoded bytes; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let next = self.try_chunk().await;
        if !matches!(next, Ok(Some(_))) {
            self.0 = State::Ended;
        }
        next.map_err(|error| match error.get_ref().and_then(|cause| cause.downcast_ref::<BodyError>()) {
            Some(cause) => cause.clone(),
            None => BodyError::Malformed(format!("the body can't be decoded: {error}")),
        })
    }

    async fn try_chunk(&mut self) -> io::Result<Option<Bytes>> {
        if let State::Encoded(..) = self.0
            && let State::Encoded(payload, coding) = std::mem::replace(&mut self.0, State::Ended)
        {
            self.0 = State::Decoding(coding.decoder(StreamReader::new(payload)).await?);
        }
        match &mut self.0 {
            State::Plain(payload) => payload.next().await.transpose(),
            State::Decoding(decoder) => {
                let mut buffer = BytesMut::with_capacity(DECODED_CHUNK);
                let read = decoder.read_buf(&mut buffer).await?;
                Ok((read > 0).then(|| buffer.freeze()))
            }
            State::Encoded(..) | State::Ended => Ok(None),
        }
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

/// The bytes of a body as they arrive.
struct TimedPayload {
    payload: Payload,
    context: Rc<RequestContext>,
    read_timeout: Duration,
    /// Runs while the client keeps us waiting.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Stream for TimedPayload {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.payload.poll_next_unpin(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                self.waiting = None;
                self.context.count_received(chunk.len());
                Poll::Ready(Some(Ok(chunk)))
            }
            Poll::Ready(Some(Err(error))) => {
                let read = self.context.received();
                let error = BodyError::Malformed(format!("the body broke off after {read} bytes: {error}"));
                Poll::Ready(Some(Err(io::Error::other(error))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                let read_timeout = self.read_timeout;
                let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(read_timeout)));
                if waiting.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                let (read, seconds) = (self.context.received(), read_timeout.as_secs_f64());
                let error = BodyError::TimedOut(format!("nothing came for {seconds} s after {read} bytes of the body"));
                Poll::Ready(Some(Err(io::Error::other(error))))
            }
        }
    }
}
