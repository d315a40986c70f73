//! A blob store whose operations are counted and timed, whatever place is behind it.

use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::checksum::Sha1Checksum;
use domain::error::StoreError;
use futures_util::stream::BoxStream;
use metering::{Family, HistogramHandle, catalog};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Operations times outcomes, and some room.
const HANDLES: usize = 32;

type Meters = Family<(&'static str, &'static str), HistogramHandle>;

/// The store within, observed.
pub(crate) struct MeteredBlobStore<S> {
    store: S,
    meters: Arc<Meters>,
}

impl<S> MeteredBlobStore<S> {
    /// Looks at the recorder that is installed by now.
    pub(crate) fn new(store: S) -> Self {
        let make = |(operation, outcome): (&str, &str)| catalog::BLOB_OPERATION_DURATION.with([operation, outcome]);
        Self { store, meters: Arc::new(Family::new(HANDLES, make)) }
    }

    fn ended<T>(&self, operation: &'static str, began: Instant, ended: &Result<T, StoreError>) {
        record(&self.meters, operation, began, outcome(ended));
    }

    /// As [`Self::ended`], of what may not be there.
    fn found<T>(&self, operation: &'static str, began: Instant, ended: &Result<Option<T>, StoreError>) {
        let outcome = if matches!(ended, Ok(None)) { "missing" } else { outcome(ended) };
        record(&self.meters, operation, began, outcome);
    }
}

fn record(meters: &Meters, operation: &'static str, began: Instant, outcome: &'static str) {
    meters.with((operation, outcome), |duration| duration.record(began.elapsed()));
}

fn outcome<T>(ended: &Result<T, StoreError>) -> &'static str {
    match ended {
        Ok(_) => "ok",
        Err(StoreError::Unavailable(_)) => "unavailable",
        Err(_) => "failed",
    }
}

#[async_trait]
impl<S: BlobStore> BlobStore for MeteredBlobStore<S> {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        let began = Instant::now();
        let created = self.store.create(key).await;
        if created.is_err() {
            self.ended("write", began, &created);
        }
        Ok(Box::new(MeteredWriter { writer: created?, meters: Arc::clone(&self.meters), began, open: true }))
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        let began = Instant::now();
        let opened = self.store.read(key, range).await;
        self.found("read", began, &opened);
        opened
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        let began = Instant::now();
        let deleted = self.store.delete(key).await;
        self.ended("delete", began, &deleted);
        deleted
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        let began = Instant::now();
        let size = self.store.size(key).await;
        self.found("size", began, &size);
        size
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        self.store.list()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        self.store.sweep_unfinished().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let began = Instant::now();
        let pinged = self.store.ping().await;
        self.ended("ping", began, &pinged);
        pinged
    }
}

/// A write, which counts once: by its end, by its first failure, or as aborted.
struct MeteredWriter {
    writer: Box<dyn BlobWriter>,
    meters: Arc<Meters>,
    began: Instant,
    open: bool,
}

impl MeteredWriter {
    fn over(&mut self, outcome: &'static str) {
        if std::mem::take(&mut self.open) {
            record(&self.meters, "write", self.began, outcome);
        }
    }
}

#[async_trait]
impl BlobWriter for MeteredWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let written = self.writer.write(bytes).await;
        if written.is_err() {
            self.over(outcome(&written));
        }
        written
    }

    async fn finish(&mut self) -> Result<Sha1Checksum, StoreError> {
        let finished = self.writer.finish().await;
        self.over(outcome(&finished));
        finished
    }

    async fn abort(&mut self) -> Result<(), StoreError> {
        self.over("aborted");
        self.writer.abort().await
    }
}

impl Drop for MeteredWriter {
    fn drop(&mut self) {
        self.over("aborted");
    }
}
