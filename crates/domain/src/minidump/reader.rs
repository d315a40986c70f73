//! The port to whatever reads minidumps.

use super::DumpFacts;
use crate::blob::ByteStream;
use async_trait::async_trait;

/// A dump to read.
pub struct DumpSource {
    pub content: ByteStream,
    /// Bytes of the content.
    pub size: u64,
}

/// Why nothing is known of a dump.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadDump {
    /// It can't be read, now or later; a sentence says why.
    #[error("{0}")]
    Unreadable(String),
    /// It may be read later.
    #[error("{0}")]
    Unavailable(String),
}

/// Reads minidumps.
///
/// A hostile dump MUST NOT end the process of the caller, nor take memory or time beyond the bounds of decision I6. Of a
/// damaged dump what can be read is returned, with sentences about the rest.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait DumpReader: Send + Sync + 'static {
    /// The version of the reader, which is stored with its facts.
    fn version(&self) -> String;

    /// What the dump says. Anything that isn't a minidump is [`UnreadDump::Unreadable`].
    async fn read(&self, dump: DumpSource) -> Result<DumpFacts, UnreadDump>;
}
