//! A multipart body out of memory.

use crate::body::{BodyError, PartHead, PartSource};
use async_trait::async_trait;
use bytes::Bytes;
use std::collections::VecDeque;

/// One part of a body.
#[derive(Debug, Clone, Default)]
pub struct InMemoryPart {
    head: PartHead,
    chunks: VecDeque<Bytes>,
    failure: Option<BodyError>,
}

impl InMemoryPart {
    /// A part with this name and no content yet.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { head: PartHead { name: Some(name.to_owned()), ..PartHead::default() }, ..Self::default() }
    }

    /// A part without a name.
    #[must_use]
    pub fn nameless() -> Self {
        Self::default()
    }

    /// With this content type.
    #[must_use]
    pub fn content_type(mut self, content_type: &str) -> Self {
        self.head.content_type = Some(content_type.to_owned());
        self
    }

    /// With this file name.
    #[must_use]
    pub fn file_name(mut self, file_name: &str) -> Self {
        self.head.file_name = Some(file_name.to_owned());
        self
    }

    /// With one more chunk of content.
    #[must_use]
    pub fn chunk(mut self, bytes: impl Into<Bytes>) -> Self {
        self.chunks.push_back(bytes.into());
        self
    }

    /// After its chunks the body can't be read on.
    #[must_use]
    pub fn failing(mut self, failure: BodyError) -> Self {
        self.failure = Some(failure);
        self
    }
}

/// A body of such parts, in order.
#[derive(Debug, Default)]
pub struct InMemoryParts {
    waiting: VecDeque<InMemoryPart>,
    current: Option<InMemoryPart>,
    failure: Option<BodyError>,
}

impl InMemoryParts {
    /// A well-formed body.
    #[must_use]
    pub fn new(parts: Vec<InMemoryPart>) -> Self {
        Self { waiting: parts.into(), ..Self::default() }
    }

    /// After its parts the body can't be read on.
    #[must_use]
    pub fn failing(mut self, failure: BodyError) -> Self {
        self.failure = Some(failure);
        self
    }
}

#[async_trait]
impl PartSource for InMemoryParts {
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError> {
        // What is left of the current part has to be read to get past it, its failure included.
        while self.chunk().await?.is_some() {}
        self.current = self.waiting.pop_front();
        match (&self.current, &self.failure) {
            (Some(part), _) => Ok(Some(part.head.clone())),
            (None, Some(failure)) => Err(failure.clone()),
            (None, None) => Ok(None),
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let Some(part) = &mut self.current else {
            return Ok(None);
        };
        match (part.chunks.pop_front(), &part.failure) {
            (Some(chunk), _) => Ok(Some(chunk)),
            (None, Some(failure)) => Err(failure.clone()),
            (None, None) => Ok(None),
        }
    }
}
