//! A multipart body that is whole in memory.

use async_trait::async_trait;
use bytes::Bytes;
use domain::body::{BodyError, PartHead, PartSource};
use std::collections::VecDeque;

/// Parts in the order in which they are read.
#[derive(Default)]
pub(super) struct Parts {
    waiting: VecDeque<(PartHead, Bytes)>,
    current: Option<Bytes>,
}

impl Parts {
    pub(super) fn with(mut self, name: &str, file_name: &str, content_type: &str, content: impl Into<Bytes>) -> Self {
        let head = PartHead {
            name: Some(name.to_owned()),
            file_name: Some(file_name.to_owned()),
            content_type: Some(content_type.to_owned()),
        };
        self.waiting.push_back((head, content.into()));
        self
    }
}

#[async_trait]
impl PartSource for Parts {
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError> {
        let next = self.waiting.pop_front();
        let (head, content) = next.unzip();
        self.current = content;
        Ok(head)
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(self.current.take())
    }
}
