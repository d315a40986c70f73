//! The blob store in memory.

use super::FixedClock;
use crate::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use crate::checksum::Sha1Checksum;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Small enough that tests see contents arrive in several pieces.
const CHUNK: usize = 16 * 1024;

/// Blobs in memory. Clones share them.
#[derive(Clone)]
pub struct InMemoryBlobs {
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct State {
    blobs: BTreeMap<BlobKey, (Bytes, Timestamp)>,
    failing: bool,
}

impl InMemoryBlobs {
    /// Blobs are modified at the time of `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { state: Arc::default(), clock }
    }

    /// From now on every call fails, or none does.
    pub fn set_failing(&self, failing: bool) {
        self.lock().failing = failing;
    }

    /// The keys of all published blobs.
    #[must_use]
    pub fn keys(&self) -> Vec<BlobKey> {
        self.lock().blobs.keys().cloned().collect()
    }

    /// The content of a blob.
    #[must_use]
    pub fn content(&self, key: &BlobKey) -> Option<Bytes> {
        self.lock().blobs.get(key).map(|(content, _)| content.clone())
    }

    /// Publishes a blob in one step, in place of a former one: this is how tests damage a blob.
    pub fn put(&self, key: &BlobKey, content: impl Into<Bytes>) {
        let now = self.clock.now();
        self.lock().blobs.insert(key.clone(), (content.into(), now));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn working(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.lock();
        if state.failing { Err(StoreError::other("the blob store was output to fail")) } else { Ok(state) }
    }
}

impl Default for InMemoryBlobs {
    fn default() -> Self {
        Self::new(Arc::new(FixedClock::default()))
    }
}

#[async_trait]
impl BlobStore for InMemoryBlobs {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        drop(self.working()?);
        Ok(Box::new(Writer { blobs: self.clone(), key: key.clone(), written: BytesMut::new() }))
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        let Some((content, _)) = self.working()?.blobs.get(key).cloned() else {
            return Ok(None);
        };
        let place = |offset: u64| usize::try_from(offset).map_err(StoreError::other);
        let mut rest = match range {
            Some(range) => content.slice(place(range.start)?..place(range.end)?),
            None => content,
        };
        let chunks = std::iter::from_fn(move || {
            let chunk = rest.split_to(rest.len().min(CHUNK));
            (!chunk.is_empty()).then_some(Ok(chunk))
        });
        Ok(Some(stream::iter(chunks).boxed()))
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        self.working()?.blobs.remove(key);
        Ok(())
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        Ok(self.working()?.blobs.get(key).map(|(content, _)| content.len() as u64))
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        let entry = |(key, (content, modified)): (&BlobKey, &(Bytes, Timestamp))| {
            Ok(BlobEntry { key: key.clone(), size: content.len() as u64, modified: *modified })
        };
        let entries = match self.working() {
            Ok(state) => state.blobs.iter().map(entry).collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(entries).boxed()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        self.working().map(|_| 0)
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.working().map(|_| ())
    }
}

struct Writer {
    blobs: InMemoryBlobs,
    key: BlobKey,
    written: BytesMut,
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        drop(self.blobs.working()?);
        self.written.extend_from_slice(&bytes);
        Ok(())
    }

    async fn finish(&mut self) -> Result<Sha1Checksum, StoreError> {
        drop(self.blobs.working()?);
        let content = self.written.split().freeze();
        let checksum = Sha1Checksum::of(&content);
        self.blobs.put(&self.key, content);
        Ok(checksum)
    }

    async fn abort(&mut self) -> Result<(), StoreError> {
        self.written.clear();
        Ok(())
    }
}
