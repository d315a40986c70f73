//! What the unit tests of the use cases share: refusals and bodies without end.

use crate::body::{BodyError, PartHead, PartSource};
use crate::error::{Failure, Outcome, Reason};
use crate::testing::{InMemoryPart, InMemoryParts};
use async_trait::async_trait;
use bytes::Bytes;

/// Why it was refused.
pub(crate) fn reason<T>(outcome: Outcome<T>) -> Reason {
    match outcome {
        Ok(_) => panic!("nothing was refused"),
        Err(Failure::Refused(refusal)) => refusal.reason,
        Err(Failure::Store(error)) => panic!("a store failed: {error:?}"),
    }
}

/// The particulars of a refusal (decision R11).
pub(crate) fn detail<T>(outcome: Outcome<T>) -> String {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal.detail.to_string(),
        _ => panic!("nothing was refused"),
    }
}

/// Whether a store failed, which is no refusal (decision R4).
pub(crate) fn is_store_failure<T>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Err(Failure::Store(_)))
}

/// A content of so many bytes.
pub(crate) fn of_size(size: usize) -> Bytes {
    Bytes::from(vec![b'x'; size])
}

/// A body that begins with these parts and never ends.
pub(crate) struct Endless {
    begin: InMemoryParts,
    /// Whether its last part has content without end; else there are parts without end.
    in_one_part: bool,
    begun: bool,
}

impl Endless {
    pub(crate) fn after(begin: Vec<InMemoryPart>, in_one_part: bool) -> Self {
        Self { begin: InMemoryParts::new(begin), in_one_part, begun: false }
    }
}

#[async_trait]
impl PartSource for Endless {
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError> {
        if let Some(head) = self.begin.next_part().await? {
            return Ok(Some(head));
        }
        self.begun = true;
        Ok(Some(PartHead { name: Some("more".to_owned()), ..PartHead::default() }))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        match self.begin.chunk().await? {
            Some(bytes) => Ok(Some(bytes)),
            None => Ok((self.begun && self.in_one_part).then(|| of_size(64 * 1024))),
        }
    }
}
