//! Small contents in memory (ADR 56).
//!
//! No content changes under its key and no key is used twice, so a cached content never goes stale.

use bytes::Bytes;
use domain::blob::{BlobKey, ByteStream};
use domain::error::StoreError;
use futures_util::{StreamExt, TryStreamExt, stream};
use metering::{CounterHandle, catalog};
use moka::future::Cache;
use moka::policy::EvictionPolicy;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of all cached contents.
const CAPACITY: u64 = 32 * 1024 * 1024;

/// Bytes of all contents that are cached, being read for the cache, or evicted and still on their way
/// to slow readers. A content for which there is no memory is streamed.
const MEMORY: usize = 40 * 1024 * 1024;

/// Bytes of one cached content at most.
const MAX_CONTENT: u64 = 4 * 1024 * 1024;

/// Contents of at most that many bytes are cached when they are read for the first time, larger ones
/// when they are read again.
const CACHED_AT_ONCE: u64 = 64 * 1024;

/// Bytes that an entry takes besides its content, roughly.
const OVERHEAD: usize = 512;

/// How long a content is cached: a file that an operator restores is served soon.
const TIME_TO_LIVE: Duration = Duration::from_mins(1);

/// The content of a blob, or of a range of it, on its way to a reader.
pub(crate) struct Download {
    /// Bytes.
    pub(crate) size: u64,
    pub(crate) content: ByteStream,
}

pub(crate) struct BlobCache {
    contents: Cache<BlobKey, Entry>,
    /// The sizes of larger contents that were read once, as many as could have been cached.
    read_once: Cache<BlobKey, u32>,
    memory: Arc<Semaphore>,
    hits: CounterHandle,
    misses: CounterHandle,
}

impl BlobCache {
    pub(crate) fn new() -> Self {
        // The default policy would admit a large content only if it is read more often than all the small ones
        // together that make room for it.
        let contents = Cache::builder()
            .max_capacity(CAPACITY)
            .weigher(|_, entry: &Entry| u32::try_from(entry.size() + OVERHEAD).unwrap_or(u32::MAX))
            .time_to_live(TIME_TO_LIVE)
            .eviction_policy(EvictionPolicy::lru())
            .eviction_listener(|_, entry: Entry, _| drop(entry.content().take()))
            .build();
        let read_once = Cache::builder()
            .max_capacity(CAPACITY)
            .weigher(|_, size: &u32| *size)
            .time_to_live(TIME_TO_LIVE)
            .eviction_policy(EvictionPolicy::lru())
            .build();
        let requests = |outcome| catalog::CACHE_REQUESTS.with(["content", outcome]);
        let memory = Arc::new(Semaphore::new(MEMORY));
        Self { contents, read_once, memory, hits: requests("hit"), misses: requests("miss") }
    }

    /// A cached content.
    pub(crate) async fn get(&self, key: &BlobKey) -> Option<ByteStream> {
        let content = self.contents.get(key).await.and_then(|entry| entry.content().clone());
        if content.is_some() { &self.hits } else { &self.misses }.increment(1);
        content.map(one_piece)
    }

    /// Caches the content of a miss if it is small enough; returns the content.
    pub(crate) async fn fill(&self, key: &BlobKey, download: Download) -> Result<ByteStream, StoreError> {
        let Download { size, content } = download;
        let Some(memory) = self.reserve(key, size).await else { return Ok(content) };
        let capacity = usize::try_from(size).unwrap_or_default();
        let bytes = content.try_fold(Vec::with_capacity(capacity), async |mut bytes, piece| {
            bytes.extend_from_slice(&piece);
            Ok(bytes)
        });
        let content = Bytes::from_owner(CachedContent { bytes: bytes.await?, _memory: memory });
        self.contents.insert(key.clone(), Entry::new(content.clone())).await;
        if size > CACHED_AT_ONCE {
            // Otherwise moka evicts after some more contents only, which are as large.
            self.contents.run_pending_tasks().await;
        }
        Ok(one_piece(content))
    }

    pub(crate) async fn remove(&self, key: &BlobKey) {
        self.contents.invalidate(key).await;
    }

    /// Memory for a content that should be cached.
    async fn reserve(&self, key: &BlobKey, size: u64) -> Option<OwnedSemaphorePermit> {
        if size > MAX_CONTENT {
            return None;
        }
        let bytes = u32::try_from(size).ok()?;
        if size > CACHED_AT_ONCE && self.read_once.get(key).await.is_none() {
            self.read_once.insert(key.clone(), bytes).await;
            return None;
        }
        Arc::clone(&self.memory).try_acquire_many_owned(bytes).ok()
    }
}

fn one_piece(content: Bytes) -> ByteStream {
    stream::iter([Ok(content)]).boxed()
}

/// A cached content. It is emptied when it is evicted, since moka drops evicted values some time later.
#[derive(Clone)]
struct Entry(Arc<Mutex<Option<Bytes>>>);

impl Entry {
    fn new(content: Bytes) -> Self {
        Self(Arc::new(Mutex::new(Some(content))))
    }

    fn content(&self) -> MutexGuard<'_, Option<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn size(&self) -> usize {
        self.content().as_ref().map_or(0, Bytes::len)
    }
}

/// Bytes that release their share of [`MEMORY`] when the cache and the last reader have dropped them.
struct CachedContent {
    bytes: Vec<u8>,
    _memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for CachedContent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests;
