//! Small contents are answered from memory (decision 0056).
//!
//! No content ever changes, and no key is used twice: what was read once stays true for as long as a record
//! names it. Opening a small file costs more than all the rest of its download, a trip to a bucket more still.

use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::error::StoreError;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use metering::{CounterHandle, catalog};
use moka::future::Cache;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of all contents that are kept.
const ROOM: u64 = 16 * 1024 * 1024;

/// How long one is kept: whoever restores a file behind the server's back sees it served soon.
const KEPT: Duration = Duration::from_mins(1);

/// Bytes of one at most.
const SMALL: usize = 64 * 1024;

/// What one takes beside its bytes, roughly.
const OVERHEAD: usize = 512;

/// `store`, with those of its small contents in memory that were read whole: 16 MiB of them, of which the
/// most used stay.
#[must_use]
pub fn with_small_contents_in_memory(store: Arc<dyn BlobStore>) -> Arc<dyn BlobStore> {
    Arc::new(SmallContents::new(store))
}

struct SmallContents {
    store: Arc<dyn BlobStore>,
    kept: Cache<BlobKey, Bytes>,
    hits: CounterHandle,
    misses: CounterHandle,
}

impl SmallContents {
    fn new(store: Arc<dyn BlobStore>) -> Self {
        let weigh = |_: &BlobKey, content: &Bytes| u32::try_from(content.len() + OVERHEAD).unwrap_or(u32::MAX);
        let outcome = |outcome| catalog::CACHE_REQUESTS.with(["content", outcome]);
        Self {
            store,
            kept: Cache::builder().max_capacity(ROOM).weigher(weigh).time_to_live(KEPT).build(),
            hits: outcome("hit"),
            misses: outcome("miss"),
        }
    }
}

#[async_trait]
impl BlobStore for SmallContents {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        self.store.create(key).await
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        if range.is_some() {
            return self.store.read(key, range).await;
        }
        if let Some(content) = self.kept.get(key).await {
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
                return Ok(Some(stream::iter(pieces.into_iter().map(Ok)).chain(content).boxed()));
            }
        }
        // A copy: what is kept must not hold a larger buffer alive.
        let whole = Bytes::from(pieces.concat());
        self.kept.insert(key.clone(), whole.clone()).await;
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::blob::{BlobKind, MockBlobStore};
    use domain::blob_store_contract;
    use std::sync::Mutex;
    use uuid::Uuid;

    blob_store_contract!(small_contents, async {
        let store = crate::open(&crate::BlobConfig::Memory).await.unwrap();
        (with_small_contents_in_memory(store), ())
    });

    fn key() -> BlobKey {
        BlobKey::new(BlobKind::Resource, Uuid::from_u128(1))
    }

    async fn read(store: &SmallContents, range: Option<Range<u64>>) -> Result<Vec<u8>, StoreError> {
        let content = store.read(&key(), range).await?.unwrap();
        content.try_fold(Vec::new(), async |all, piece| Ok([&all[..], &piece].concat())).await
    }

    /// A store whose blob can be read once for each of these: the pieces of its content.
    fn giving(readings: impl IntoIterator<Item = Vec<Result<&'static [u8], StoreError>>>) -> SmallContents {
        let readings = Mutex::new(readings.into_iter().collect::<Vec<_>>());
        let mut store = MockBlobStore::new();
        store.expect_read().returning(move |_, _| {
            let pieces = readings.lock().unwrap().remove(0);
            Ok(Some(stream::iter(pieces.into_iter().map(|piece| piece.map(Bytes::from_static))).boxed()))
        });
        store.expect_delete().returning(|_| Ok(()));
        SmallContents::new(Arc::new(store))
    }

    #[tokio::test]
    async fn a_small_content_is_read_once_and_forgotten_when_it_is_deleted() {
        let store = giving([vec![Ok(&b"fi"[..]), Ok(b"rs"), Ok(b"t")], vec![Ok(b"second")]]);
        for _ in 0..3 {
            assert_eq!(read(&store, None).await.unwrap(), b"first");
        }
        store.delete(&key()).await.unwrap();
        assert_eq!(read(&store, None).await.unwrap(), b"second");
    }

    #[tokio::test]
    async fn large_contents_and_parts_are_not_kept() {
        const LARGE: &[u8] = &[7; SMALL];
        let large = || vec![Ok(b"one".as_slice()), Ok(LARGE), Ok(b"rest"), Ok(b"end")];
        let store = giving([large(), large(), vec![Ok(b"ne")]]);
        for _ in 0..2 {
            assert_eq!(read(&store, None).await.unwrap(), [b"one", LARGE, b"rest", b"end"].concat());
        }
        assert_eq!(read(&store, Some(1..3)).await.unwrap(), b"ne");
    }

    #[tokio::test]
    async fn a_content_that_breaks_off_is_not_kept() {
        let broken = || Err(StoreError::other("the disk is gone"));
        let store = giving([vec![Ok(&b"half"[..]), broken()], vec![broken()], vec![Ok(b"half and half")]]);
        for _ in 0..2 {
            assert!(read(&store, None).await.is_err());
        }
        assert_eq!(read(&store, None).await.unwrap(), b"half and half");
    }
}
