//! The body of a request: read with a time limit for each wait, decoded (decision R10), and as JSON (decisions R3, R5, R6).

#[cfg(test)]
mod tests;

use super::headers::{require_json, texts};
use super::json;
use crate::error::ApiError;
use crate::middleware::context::RequestContext;
use crate::services::Settings;
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};
use actix_web::rt::time::timeout;
use actix_web::{FromRequest, HttpRequest};
use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::Bytes;
use domain::body::BodyError;
use domain::error::Reason;
use futures_util::future::{LocalBoxFuture, ready};
use futures_util::stream::{self, LocalBoxStream, Stream};
use futures_util::{FutureExt, StreamExt, TryFutureExt, TryStreamExt};
use serde::de::DeserializeOwned;
use std::io::{self, Cursor};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt};
use tokio_util::io::{ReaderStream, StreamReader};

/// Bytes that are decoded at once.
const DECODED_CHUNK: usize = 64 * 1024;

/// A body may decode to so many times the bytes that were sent (ADR 7).
const MAX_RATIO: u64 = 200;

/// Bytes to which any body may decode, however few were sent (ADR 7).
const ALWAYS_DECODED: u64 = 128 * 1024 * 1024;

/// The largest zstd window as a power of two: 8 MiB, the largest that its default levels use.
const MAX_ZSTD_WINDOW: u32 = 23;

/// A body that is read chunk by chunk.
pub(crate) struct Body(LocalBoxStream<'static, io::Result<Bytes>>);

impl Body {
    /// The body of `request`.
    pub(crate) fn new(request: &HttpRequest, payload: &mut Payload, coding: Coding) -> Self {
        let context = RequestContext::of(request);
        let read_timeout = Settings::of(request).read_timeout;
        let received = receive(payload.take(), Rc::clone(&context), read_timeout).boxed_local();
        if coding == Coding::Identity {
            return Self(received);
        }
        let chunks = coding
            .decoder(StreamReader::new(received))
            .map_ok(|decoder| ReaderStream::with_capacity(decoder, DECODED_CHUNK))
            .try_flatten_stream();
        let mut decoded = 0;
        let limited = chunks.and_then(move |chunk| {
            decoded += chunk.len() as u64;
            ready(check_ratio(decoded, context.received()).map(|()| chunk).map_err(io::Error::other))
        });
        Self(limited.boxed_local())
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
    async fn collect(mut self, limit: u64) -> Result<Vec<u8>, BodyError> {
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

/// Longest time in which a small body has to be whole.
const SMALL_BODY_TIME: Duration = Duration::from_secs(10);

/// A small body that is not encoded, for other applications on the same listener: of at most `limit` bytes, whole within
/// `http.read_timeout`, and within 10 seconds in any case. Its bytes are counted like those of the interface.
pub fn small_body(
    request: &HttpRequest,
    payload: &mut Payload,
    limit: u64,
) -> impl Future<Output = Result<Vec<u8>, BodyError>> + use<> {
    let most = Settings::of(request).read_timeout.min(SMALL_BODY_TIME);
    let body = Body::new(request, payload, Coding::Identity);
    async move {
        let late = |_| BodyError::TimedOut(format!("the body was not whole within {} s", most.as_secs_f64()));
        timeout(most, body.collect(limit)).await.map_err(late)?
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
fn receive(
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

/// Refuses to decode further if a body decodes to far more bytes than were received. What is decoded costs time even if
/// it is discarded, and goes on when the client has gone.
fn check_ratio(decoded: u64, received: u64) -> Result<(), BodyError> {
    if decoded <= ALWAYS_DECODED.max(received.saturating_mul(MAX_RATIO)) {
        return Ok(());
    }
    let detail = format!("{received} bytes of the body decode to more than {MAX_RATIO} times as many");
    Err(BodyError::DecodedTooLarge(detail))
}

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// Reads `Content-Encoding`; the error names the unknown coding.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, String> {
        let headers = texts(headers, &CONTENT_ENCODING);
        let named = headers.iter().flat_map(|header| header.split(',')).map(str::trim);
        let mut codings = named.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
        let Some(name) = codings.next() else {
            return Ok(Self::Identity);
        };
        if codings.next().is_some() {
            return Err("several Content-Encodings are not decoded".to_owned());
        }
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            "br" => Ok(Self::Brotli),
            "zstd" => Ok(Self::Zstd),
            _ => Err(format!("Content-Encoding \"{name}\" is none of gzip, deflate, br, zstd")),
        }
    }

    /// Decodes `body`.
    async fn decoder(self, mut body: impl AsyncBufRead + Unpin + 'static) -> io::Result<Pin<Box<dyn AsyncRead>>> {
        let mut start = Vec::with_capacity(2);
        (&mut body).take(2).read_to_end(&mut start).await?;
        let is_zlib = is_zlib(&start);
        let is_large_brotli = start.first().is_some_and(|first| first & 0x7f == 0x11);
        let body = Cursor::new(start).chain(body);
        Ok(match self {
            Self::Identity => Box::pin(body),
            Self::Gzip => {
                let mut decoder = GzipDecoder::new(body);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
            // "deflate" means zlib; some clients send it bare.
            Self::Deflate if is_zlib => Box::pin(ZlibDecoder::new(body)),
            Self::Deflate => Box::pin(DeflateDecoder::new(body)),
            // The first byte of a "large window" stream, which no standard defines: its window has up to 1 GiB.
            Self::Brotli if is_large_brotli => {
                return Err(io::Error::other("the window of the brotli stream is too large"));
            }
            Self::Brotli => Box::pin(BrotliDecoder::new(body)),
            Self::Zstd => {
                let mut decoder = ZstdDecoder::with_params(body, &[DParameter::window_log_max(MAX_ZSTD_WINDOW)]);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
        })
    }
}

/// Whether a body begins with the two bytes of a zlib header; also true for a body of fewer bytes.
fn is_zlib(start: &[u8]) -> bool {
    match start {
        [method, flags, ..] => method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0,
        _ => true,
    }
}

/// A JSON body whose content type must be JSON too (decision R6).
pub(crate) struct LenientJson<T>(pub(crate) T);

/// A JSON body of any content type, for the operations whose list of errors has no 415 (decision R6).
pub(crate) struct AnyTypeJson<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for LenientJson<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let has_type = require_json(request.headers()).map_err(ApiError::from);
        let body = has_type.and_then(|()| read(request, payload, Reason::JsonExpected));
        async move { body?.await.map(Self) }.boxed_local()
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for AnyTypeJson<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = read(request, payload, Reason::NotProperlyFormatted);
        async move { body?.await.map(Self) }.boxed_local()
    }
}

/// Reads and parses the body; an unknown coding is refused for `bad_coding`.
fn read<T: DeserializeOwned>(
    request: &HttpRequest,
    payload: &mut Payload,
    bad_coding: Reason,
) -> Result<impl Future<Output = Result<T, ApiError>> + use<T>, ApiError> {
    let limit = Settings::of(request).limits.max_json_size;
    let coding = Coding::of(request.headers()).map_err(|detail| bad_coding.because(detail))?;
    check_length(request, coding, limit)?;
    let body = Body::new(request, payload, coding);
    Ok(async move {
        let text = body.collect(limit).await.map_err(|error| match error {
            // A body that breaks off or can't be decoded isn't valid JSON.
            BodyError::Malformed(detail) => Reason::JsonInvalid.because(detail),
            other => other.into(),
        })?;
        json::parse(&text).map_err(|problem| Reason::JsonInvalid.because(problem).into())
    })
}
