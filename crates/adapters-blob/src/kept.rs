//! Contents that are asked for again are answered from memory (ADR 56).
//!
//! No content ever changes, and no key is used twice: what was read once stays true for as long as a record
//! names it. Opening a small file costs more than all the rest of its download, a trip to a bucket more still; and a
//! profile that is new is fetched by hundreds of computers within minutes.

mod copies;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use copies::{Copies, Copying, LARGEST};
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::error::StoreError;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use metering::{CounterHandle, catalog};
use moka::future::Cache;
use moka::policy::EvictionPolicy;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of all contents that are kept.
const ROOM: u64 = 32 * 1024 * 1024;

/// How long one is kept: whoever restores a file behind the server's back sees it served soon.
const TIME: Duration = Duration::from_mins(1);

/// Bytes of one that is read to its end before any of it is handed on.
const SMALL: usize = 64 * 1024;

/// What one takes beside its bytes, roughly.
const OVERHEAD: usize = 512;

/// `store`, with those of its contents of up to 4 MiB in memory that are read whole again and again: 32 MiB of them, of which
/// those stay that were asked for last.
#[must_use]
pub fn with_contents_in_memory(store: Arc<dyn BlobStore>) -> Arc<dyn BlobStore> {
    Arc::new(ContentsInMemory::new(store))
}

struct ContentsInMemory {
    store: Arc<dyn BlobStore>,
    kept: Cache<BlobKey, Kept>,
    /// The sizes of contents that went by, as many as could have been kept. What is asked for again while it stands here is
    /// copied: a copy of what is asked for once, or again after all that is kept has gone, would be made in vain.
    passed: Cache<BlobKey, u32>,
    copies: Arc<Copies>,
    hits: CounterHandle,
    misses: CounterHandle,
}

/// A content that is kept. It is emptied when it leaves the cache, which itself drops what it held some time later only.
#[derive(Clone)]
struct Kept(Arc<Mutex<Option<Bytes>>>);

impl Kept {
    fn new(content: Bytes) -> Self {
        Self(Arc::new(Mutex::new(Some(content))))
    }

    fn content(&self) -> MutexGuard<'_, Option<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContentsInMemory {
    fn new(store: Arc<dyn BlobStore>) -> Self {
        let weigh = |_: &BlobKey, kept: &Kept| {
            let size = kept.content().as_ref().map_or(0, Bytes::len);
            u32::try_from(size + OVERHEAD).unwrap_or(u32::MAX)
        };
        let kept = Cache::builder()
            .max_capacity(ROOM)
            .weigher(weigh)
            .time_to_live(TIME)
            // The other policy takes in a large content only if it is asked for more often than all the small ones
            // together that would have to go for it.
            .eviction_policy(EvictionPolicy::lru())
            .eviction_listener(|_, kept: Kept, _| *kept.content() = None)
            .build();
        let passed = Cache::builder()
            .max_capacity(ROOM)
            .weigher(|_: &BlobKey, size: &u32| *size)
            .time_to_live(TIME)
            .eviction_policy(EvictionPolicy::lru())
            .build();
        let outcome = |outcome| catalog::CACHE_REQUESTS.with(["content", outcome]);
        Self { store, kept, passed, copies: Arc::default(), hits: outcome("hit"), misses: outcome("miss") }
    }

    /// `content`, copied while it goes to its reader if it has gone by before, and kept once all of it has gone by.
    async fn watched(&self, key: &BlobKey, content: ByteStream) -> ByteStream {
        let has_passed = self.passed.get(key).await.is_some();
        let copy = if has_passed { self.copies.begin(key) } else { None };
        let (kept, passed) = (self.kept.clone(), self.passed.clone());
        let tee = Tee { content, size: Some(0), copy, key: key.clone(), kept, passed };
        stream::unfold(tee, Tee::next).boxed()
    }
}

#[async_trait]
impl BlobStore for ContentsInMemory {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        self.store.create(key).await
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        if range.is_some() {
            return self.store.read(key, range).await;
        }
        if let Some(content) = self.kept.get(key).await.and_then(|kept| kept.content().clone()) {
            self.hits.increment(1);
            return Ok(Some(once(content)));
        }
        self.misses.increment(1);
        let Some(mut content) = self.store.read(key, None).await? else {
            return Ok(None);
        };
        let (mut pieces, mut size) = (Vec::new(), 0);
        while let Some(piece) = content.try_next().await? {
            size += piece.len();
            pieces.push(piece);
            if size > SMALL {
                let content = stream::iter(pieces.into_iter().map(Ok)).chain(content).boxed();
                return Ok(Some(self.watched(key, content).await));
            }
        }
        // A copy: what is kept must not hold a larger buffer alive.
        let Some(whole) = self.copies.of(&pieces) else {
            return Ok(Some(stream::iter(pieces.into_iter().map(Ok)).boxed()));
        };
        self.kept.insert(key.clone(), Kept::new(whole.clone())).await;
        Ok(Some(once(whole)))
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        let deleted = self.store.delete(key).await;
        self.kept.invalidate(key).await;
        deleted
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        self.store.size(key).await
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        self.store.list()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        self.store.sweep_unfinished().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.store.ping().await
    }
}

fn once(content: Bytes) -> ByteStream {
    stream::iter([Ok(content)]).boxed()
}

/// A content on its way to a reader. When the reader goes away, the copy goes with it.
struct Tee {
    content: ByteStream,
    /// Bytes that have gone by; `None` after a failure.
    size: Option<usize>,
    /// Of all that has gone by, for as long as it may yet become whole.
    copy: Option<Copying>,
    key: BlobKey,
    kept: Cache<BlobKey, Kept>,
    passed: Cache<BlobKey, u32>,
}

impl Tee {
    async fn next(mut self) -> Option<(Result<Bytes, StoreError>, Self)> {
        let piece = self.content.next().await;
        match &piece {
            Some(Ok(piece)) => {
                self.size = self.size.map(|size| size.saturating_add(piece.len()));
                self.copy = self.copy.and_then(|copy| copy.with(piece));
            }
            Some(Err(_)) => (self.size, self.copy) = (None, None),
            None => self.end().await,
        }
        piece.map(|piece| (piece, self))
    }

    /// Keeps the copy of the whole, or how large that was.
    async fn end(&mut self) {
        if let Some(copy) = self.copy.take() {
            self.kept.insert(self.key.clone(), Kept::new(copy.into_bytes())).await;
            // Else the cache would be over its bound until it next looks, by many a content of that size.
            self.kept.run_pending_tasks().await;
        } else if let Some(size) = self.size.filter(|size| *size <= LARGEST).and_then(|size| u32::try_from(size).ok()) {
            self.passed.insert(self.key.clone(), size).await;
        }
    }
}
