//! The port to a reader of minidumps.

use super::DumpFacts;
use crate::blob::ByteStream;
use async_trait::async_trait;

/// A dump to read.
pub struct DumpSource {
    pub content: ByteStream,
    /// The length of the content in bytes.
    pub size: u64,
}

/// Why a dump has no facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadDump {
    /// The dump can't be read, now or later. The text is a sentence that says why.
    #[error("{0}")]
    Unreadable(String),
    /// The reader or the store is unavailable; a retry may succeed.
    #[error("{0}")]
    Unavailable(String),
}

/// Reads minidumps.
///
/// A hostile dump MUST NOT end the process of the caller, nor take memory or time beyond the bounds of decision I6. A
/// damaged dump yields the facts that can be read, with sentences about the others in [`DumpFacts::problems`].
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait DumpReader: Send + Sync + 'static {
    /// The version of the reader. It is stored with the facts.
    fn version(&self) -> String;

    /// Reads the facts of a dump. Content that isn't a minidump is [`UnreadDump::Unreadable`].
    async fn read(&self, dump: DumpSource) -> Result<DumpFacts, UnreadDump>;
}
