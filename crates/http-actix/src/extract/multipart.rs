//! The parts of a multipart/form-data body, read by multer while they arrive (ADR 6).

use super::body::{Body, Coding, check_length};
use super::headers::{essence, parameter, require_multipart, text};
use super::part_heads::PartHeads;
use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, rt};
use async_trait::async_trait;
use bytes::Bytes;
use domain::body::{BodyError, MAX_PARTS, PartHead, PartSource};
use domain::error::Reason;
use futures_util::stream;
use multer::Field;
use percent_encoding::percent_decode_str;
use std::future::{Ready, ready};
use tokio::sync::mpsc;

/// Chunks of a body that wait for the use case. A slow use case slows the client.
const MAX_QUEUED_CHUNKS: usize = 4;

type Chunk = Result<Bytes, BodyError>;

/// A multipart body, not read yet.
pub(crate) struct Multipart {
    body: Body,
    boundary: String,
    request: HttpRequest,
    coding: Coding,
}

impl FromRequest for Multipart {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let mut read = || {
            let boundary = require_multipart(request.headers())?;
            let coding =
                Coding::of(request.headers()).map_err(|detail| Reason::NotProperlyFormatted.because(detail))?;
            Ok(Self { body: Body::new(request, payload, coding), boundary, request: request.clone(), coding })
        };
        ready(read())
    }
}

impl Multipart {
    /// Refuses a body that is announced to be longer than `limit` bytes.
    pub(crate) fn at_most(self, limit: u64) -> Result<Self, ApiError> {
        check_length(&self.request, self.coding, limit)?;
        Ok(self)
    }

    /// Starts a task that reads the body on the connection's thread, since no other thread can read a payload.
    pub(crate) fn parts(self) -> MultipartParts {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_CHUNKS);
        rt::spawn(feed(self.body, sender));
        MultipartParts::new(receiver, &self.boundary)
    }
}

/// Feeds the channel until the body ends or its receiver is gone.
async fn feed(mut body: Body, sender: mpsc::Sender<Chunk>) {
    loop {
        let chunk = tokio::select! {
            chunk = body.chunk() => chunk.transpose(),
            () = sender.closed() => return,
        };
        let Some(chunk) = chunk else { return };
        if sender.send(chunk).await.is_err() {
            return;
        }
    }
}

/// The parts of a body.
pub(crate) struct MultipartParts {
    multipart: multer::Multipart<'static>,
    field: Option<Field<'static>>,
    /// The error after which nothing more can be read.
    failure: Option<BodyError>,
    parts: usize,
}

impl MultipartParts {
    pub(crate) fn new(body: mpsc::Receiver<Chunk>, boundary: &str) -> Self {
        let body = stream::unfold(body, |mut body| async { Some((body.recv().await?, body)) });
        let multipart = multer::Multipart::new(PartHeads::new(Box::pin(body), boundary), boundary);
        Self { multipart, field: None, failure: None, parts: 0 }
    }

    fn fail(&mut self, error: BodyError) -> BodyError {
        self.field = None;
        self.failure = Some(error.clone());
        error
    }

    fn read_error(&mut self, error: &multer::Error) -> BodyError {
        // An open field is the part that broke off.
        let whole = self.parts - usize::from(self.field.is_some());
        let error = match error {
            multer::Error::StreamReadFailed(cause) => match cause.downcast_ref::<BodyError>() {
                Some(error) => error.clone(),
                None => BodyError::Malformed("the body can't be read".to_owned()),
            },
            multer::Error::IncompleteStream | multer::Error::IncompleteFieldData { .. } => {
                BodyError::Malformed(format!("the multipart body broke off; whole parts before: {whole}"))
            }
            other => {
                BodyError::Malformed(format!("part {} of the multipart body can't be read: {other}", self.parts + 1))
            }
        };
        self.fail(error)
    }
}

#[async_trait]
impl PartSource for MultipartParts {
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError> {
        while self.chunk().await?.is_some() {}
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        self.field = None;
        let field = match self.multipart.next_field().await {
            Ok(Some(field)) => field,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.read_error(&error)),
        };
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(self.fail(BodyError::TooLarge(format!("the body has more than {MAX_PARTS} parts"))));
        }
        if let Some(encoding) = transfer_encoding(&field) {
            let detail =
                format!("part {} has the Content-Transfer-Encoding {encoding}, which isn't decoded", self.parts);
            return Err(self.fail(BodyError::Malformed(detail)));
        }
        let head = part_head(&field);
        self.field = Some(field);
        Ok(Some(head))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let Some(field) = &mut self.field else {
            return Ok(None);
        };
        loop {
            match field.chunk().await {
                Ok(Some(bytes)) if bytes.is_empty() => {}
                Ok(bytes) => return Ok(bytes),
                Err(error) => return Err(self.read_error(&error)),
            }
        }
    }
}

fn header(field: &Field<'_>, name: &str) -> Option<String> {
    field.headers().get(name).map(|value| text(value.as_bytes()))
}

/// The encoding of a part's content, if it would have to be decoded.
fn transfer_encoding(field: &Field<'_>) -> Option<String> {
    let encoding = header(field, "content-transfer-encoding")?.trim().to_ascii_lowercase();
    (!matches!(encoding.as_str(), "" | "7bit" | "8bit" | "binary")).then_some(encoding)
}

fn part_head(field: &Field<'_>) -> PartHead {
    let disposition = header(field, "content-disposition");
    let of_disposition = |name: &str| disposition.as_deref().and_then(|header| parameter(header, name));
    let extended = of_disposition("filename*").as_deref().and_then(decode_extended);
    let content_type = header(field, "content-type").map(|header| essence(&header).to_ascii_lowercase());
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

#[cfg(test)]
mod tests;
