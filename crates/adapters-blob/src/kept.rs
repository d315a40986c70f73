//! Contents that are asked for again are answered from memory (decision 0056).
//!
//! No content ever changes, and no key is used twice: what was read once stays true for as long as a record
//! names it. Opening a small file costs more than all the rest of its download, a trip to a bucket more still; and a
//! profile that is new is fetched by hundreds of computers within minutes.

mod copies;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use copies::{Copies, Copying, Refused};
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
const KEPT: Duration = Duration::from_mins(1);

/// Bytes of one that is read to its end before any of it is handed on.
const SMALL: usize = 64 * 1024;

/// What one takes beside its bytes, roughly.
const OVERHEAD: usize = 512;

/// `store`, with those of its contents of up to 4 MiB in memory that were read whole: 32 MiB of them, of which those stay
/// that were asked for last.
#[must_use]
pub fn with_contents_in_memory(store: Arc<dyn BlobStore>) -> Arc<dyn BlobStore> {
    Arc::new(ContentsInMemory::new(store))
}

struct ContentsInMemory {
    store: Arc<dyn BlobStore>,
    known: Cache<BlobKey, Known>,
    copies: Arc<Copies>,
    hits: CounterHandle,
    misses: CounterHandle,
}

/// A content that is kept; of one that is too large nothing but that it is, so that nobody copies the beginning of it
/// again, in vain and in the room of others. It is emptied when it leaves the cache, which itself drops what it held some
/// time later only.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<Option<Bytes>>>);

impl Known {
    fn whole(content: Bytes) -> Self {
        Self(Arc::new(Mutex::new(Some(content))))
    }

    fn content(&self) -> MutexGuard<'_, Option<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContentsInMemory {
    fn new(store: Arc<dyn BlobStore>) -> Self {
        let weigh = |_: &BlobKey, known: &Known| {
            let size = known.content().as_ref().map_or(0, Bytes::len);
            u32::try_from(size + OVERHEAD).unwrap_or(u32::MAX)
        };
        let known = Cache::builder()
            .max_capacity(ROOM)
            .weigher(weigh)
            .time_to_live(KEPT)
            // The other policy takes in a large content only if it is asked for more often than all the small ones
            // together that would have to go for it.
            .eviction_policy(EvictionPolicy::lru())
            .eviction_listener(|_, known: Known, _| *known.content() = None)
            .build();
        let outcome = |outcome| catalog::CACHE_REQUESTS.with(["content", outcome]);
        Self { store, known, copies: Arc::default(), hits: outcome("hit"), misses: outcome("miss") }
    }

    /// `content`, copied while it goes to its reader, and kept once all of it has gone by.
    fn copied(&self, key: &BlobKey, content: ByteStream) -> ByteStream {
        let Some(copy) = self.copies.begin(key) else {
            return content;
        };
        let tee = Tee { content, copy: Some(copy), key: key.clone(), known: self.known.clone() };
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
        let known = self.known.get(key).await;
        if let Some(content) = known.as_ref().and_then(|known| known.content().clone()) {
            self.hits.increment(1);
            return Ok(Some(once(content)));
        }
        self.misses.increment(1);
        let Some(mut content) = self.store.read(key, None).await? else {
            return Ok(None);
        };
        if known.is_some() {
            return Ok(Some(content));
        }
        let (mut pieces, mut size) = (Vec::new(), 0);
        while let Some(piece) = content.try_next().await? {
            size += piece.len();
            pieces.push(piece);
            if size > SMALL {
                return Ok(Some(self.copied(key, stream::iter(pieces.into_iter().map(Ok)).chain(content).boxed())));
            }
        }
        // A copy: what is kept must not hold a larger buffer alive.
        let Some(whole) = self.copies.of(&pieces) else {
            return Ok(Some(stream::iter(pieces.into_iter().map(Ok)).boxed()));
        };
        self.known.insert(key.clone(), Known::whole(whole.clone())).await;
        Ok(Some(once(whole)))
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        let deleted = self.store.delete(key).await;
        self.known.invalidate(key).await;
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
    /// Of all that has gone by, for as long as it may yet become whole.
    copy: Option<Copying>,
    key: BlobKey,
    known: Cache<BlobKey, Known>,
}

impl Tee {
    async fn next(mut self) -> Option<(Result<Bytes, StoreError>, Self)> {
        let piece = self.content.next().await;
        match (&piece, self.copy.take()) {
            (Some(Ok(piece)), Some(copy)) => match copy.with(piece) {
                Ok(copy) => self.copy = Some(copy),
                Err(Refused::TooLarge) => self.known.insert(self.key.clone(), Known::default()).await,
                Err(Refused::NoRoom) => {}
            },
            (None, Some(copy)) => {
                self.known.insert(self.key.clone(), Known::whole(copy.into_bytes())).await;
                // Else the cache would be over its bound until it next looks, by many a content of that size.
                self.known.run_pending_tasks().await;
            }
            // It failed, or nothing is copied any more.
            _ => {}
        }
        piece.map(|piece| (piece, self))
    }
}
