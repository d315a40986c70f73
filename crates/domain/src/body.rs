//! A multipart body as it arrives: the use cases pull its parts, the HTTP adapter reads them.

use crate::error::{Failure, Reason};
use async_trait::async_trait;
use bytes::Bytes;

/// Most parts of a body: each part takes memory, however small it is.
pub const MAX_PARTS: usize = 1000;

/// The parts of a request body, in the order in which they arrive.
///
/// Nothing is buffered beyond one chunk: what isn't pulled keeps the sender waiting.
#[async_trait]
pub trait PartSource: Send {
    /// Goes to the next part, skipping what is left of the current one. `None` after the last part
    /// of a well-formed body.
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError>;

    /// The next bytes of the current part; `None` at its end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError>;
}

/// What a part says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHead {
    /// `name` of its `Content-Disposition`.
    pub name: Option<String>,
    /// `filename` of its `Content-Disposition`.
    pub file_name: Option<String>,
    /// Its `Content-Type` without parameters, in lower case.
    pub content_type: Option<String>,
}

impl PartHead {
    /// Whether the content type says JSON (decision R6).
    #[must_use]
    pub fn is_json(&self) -> bool {
        let content_type = self.content_type.as_deref().unwrap_or_default();
        let subtype = content_type.strip_prefix("application/").unwrap_or_default();
        content_type == "text/json" || subtype == "json" || subtype.ends_with("+json")
    }
}

/// Why a body can't be read to its end. The text says where it went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Not a multipart body, broken off or not parseable (decision T12).
    #[error("{0}")]
    Malformed(String),
    /// Over a limit (decision R3).
    #[error("{0}")]
    TooLarge(String),
    /// An encoded body decodes to far more bytes than were sent, and isn't decoded any further (ADR 7).
    #[error("{0}")]
    DecodedTooLarge(String),
    /// The client sent nothing for too long (decision R3).
    #[error("{0}")]
    TimedOut(String),
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Malformed(detail) => Reason::NotProperlyFormatted.because(detail),
            BodyError::TooLarge(detail) | BodyError::DecodedTooLarge(detail) => Reason::BodyTooLarge.because(detail),
            BodyError::TimedOut(detail) => Reason::BodyTimedOut.because(detail),
        }
    }
}
