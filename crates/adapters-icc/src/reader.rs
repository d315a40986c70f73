//! Implements the port: reads one profile at a time, on a thread for blocking work.

use super::profile::facts;
use async_trait::async_trait;
use domain::error::error_chain;
use domain::icc::{MAX_PROFILE_SIZE, ProfileFacts, ProfileReader, ProfileSource, UnreadProfile, is_profile};
use futures_util::TryStreamExt;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Reads profiles in this process. This is safe with hostile profiles: the library limits its allocations, and is safe
/// Rust without its optional vector code, which is switched off.
pub struct IccReader {
    /// One permit: a profile takes a few times its size of memory.
    permits: Semaphore,
}

impl Default for IccReader {
    fn default() -> Self {
        Self { permits: Semaphore::new(1) }
    }
}

#[async_trait]
impl ProfileReader for IccReader {
    async fn read(&self, profile: ProfileSource) -> Result<ProfileFacts, UnreadProfile> {
        let ProfileSource { mut content, size } = profile;
        if size > MAX_PROFILE_SIZE {
            let most = MAX_PROFILE_SIZE;
            return Err(UnreadProfile::Unreadable(format!(
                "it has {size} bytes; profiles up to {most} bytes are read"
            )));
        }
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.map_err(|error| UnreadProfile::Unavailable(error.to_string()))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        while let Some(chunk) =
            content.try_next().await.map_err(|error| UnreadProfile::Unavailable(error_chain(&error)))?
        {
            if (bytes.len() + chunk.len()) as u64 > size {
                return Err(UnreadProfile::Unreadable(format!(
                    "it has more bytes than the {size} that are stored of it"
                )));
            }
            bytes.extend_from_slice(&chunk);
        }
        if !is_profile(&bytes) {
            return Err(UnreadProfile::Unreadable("it is no colour profile".to_owned()));
        }
        let read = spawn_blocking(move || facts(bytes)).await;
        read.map_err(|_| UnreadProfile::Unreadable("reading it failed; the log has the cause".to_owned()))
    }
}
