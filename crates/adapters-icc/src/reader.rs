//! Implements the port: reads one profile at a time, on a thread for blocking work.

use super::profile::facts;
use async_trait::async_trait;
use domain::error::error_chain;
use domain::icc::{MAX_PROFILE_SIZE, ProfileFacts, ProfileReader, ProfileSource, UnreadProfile, is_profile};
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Longest time for the content of a profile to arrive from the blob store, while other profiles wait.
const MAX_TRANSFER: Duration = Duration::from_secs(30);

/// Reads profiles in this process. This is safe with hostile profiles: the library limits its allocations, and is safe
/// Rust without its optional vector code, which is switched off.
pub struct IccReader {
    /// One permit: a profile takes a few times its size of memory.
    permits: Arc<Semaphore>,
}

impl Default for IccReader {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(1)) }
    }
}

#[async_trait]
impl ProfileReader for IccReader {
    async fn read(&self, profile: ProfileSource) -> Result<ProfileFacts, UnreadProfile> {
        let size = profile.size;
        if size > MAX_PROFILE_SIZE {
            let most = MAX_PROFILE_SIZE;
            return Err(UnreadProfile::Unreadable(format!(
                "it has {size} bytes; profiles up to {most} bytes are read"
            )));
        }
        // The semaphore is never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|error| UnreadProfile::Unavailable(error.to_string()))?;
        let late = |_| UnreadProfile::Unavailable(format!("it didn't arrive within {} s", MAX_TRANSFER.as_secs()));
        let bytes = timeout(MAX_TRANSFER, whole(profile)).await.map_err(late)??;
        if !is_profile(&bytes) {
            return Err(UnreadProfile::Unreadable("it is no colour profile".to_owned()));
        }
        // The thread holds the permit: it goes on if the caller goes away.
        let read = spawn_blocking(move || {
            let facts = facts(bytes);
            drop(permit);
            facts
        });
        read.await.map_err(|_| UnreadProfile::Unreadable("reading it failed; the log has the cause".to_owned()))
    }
}

async fn whole(profile: ProfileSource) -> Result<Vec<u8>, UnreadProfile> {
    let ProfileSource { mut content, size } = profile;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    while let Some(chunk) = content.try_next().await.map_err(|error| UnreadProfile::Unavailable(error_chain(&error)))? {
        if (bytes.len() + chunk.len()) as u64 > size {
            return Err(UnreadProfile::Unreadable(format!("it has more bytes than the {size} that are stored of it")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
