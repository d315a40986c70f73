//! What differs between local disk, S3 and memory. The store itself is written once, over [`Backend`].

pub(crate) mod local;
pub(crate) mod memory;
pub(crate) mod s3;

use crate::error::store_error;
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, BlobKind};
use domain::error::StoreError;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};
use std::future::{Future, ready};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Where objects are.
#[async_trait]
pub(crate) trait Backend: Send + Sync + 'static {
    /// The name in error messages, such as `folder /data/blobs`.
    fn name(&self) -> &str;

    fn objects(&self) -> &dyn ObjectStore;

    fn upload_limits(&self) -> &UploadLimits;

    /// The timeout of a request that carries so many bytes; `None` for no timeout.
    fn timeout(&self, _bytes: u64) -> Option<Duration> {
        None
    }

    /// Begins a blob of several parts.
    async fn begin_parts(&self, key: &BlobKey) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.objects().put_multipart(&location(key)).await
    }

    /// Removes the parts of an upload that is not finished, and, if that may have happened already,
    /// the published blob. It is called again after a failure.
    async fn remove_upload(&self, upload: &mut UnfinishedUpload) -> object_store::Result<()> {
        if let Some(parts) = &mut upload.parts {
            ignore_missing(parts.abort().await)?;
        }
        if upload.is_published {
            ignore_missing(self.objects().delete(&location(&upload.key)).await)?;
        }
        Ok(())
    }

    /// Pauses before the removal of an upload is tried again.
    fn removal_retries(&self) -> &[Duration] {
        &[]
    }

    /// All blobs. Objects with other names are left out.
    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        let folders: Vec<_> =
            BlobKind::ALL.map(|kind| self.objects().list(Some(&Path::from(kind.folder())))).into_iter().collect();
        let name = self.name().to_owned();
        stream::iter(folders)
            .flatten()
            .map_err(move |error| store_error("list the blobs", &name, &error))
            .try_filter_map(|object| {
                let modified = Timestamp::from_micros(object.last_modified.timestamp_micros());
                let key = BlobKey::parse(object.location.as_ref());
                ready(Ok(key.map(|key| BlobEntry { key, size: object.size, modified })))
            })
            .boxed()
    }

    /// Removes what killed processes have left half-written; returns how many.
    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Checks that the folder or bucket exists and can be read.
    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Checks that it can be written to, as far as that is cheap.
    async fn ping(&self) -> Result<(), StoreError> {
        self.check().await
    }
}

/// How an upload is cut into parts.
#[derive(Debug)]
pub(crate) struct UploadLimits {
    /// Bytes of a part. A blob of at most that is written in one step.
    pub(crate) part_size: usize,
    /// Parts of one upload that are sent while the next one is gathered.
    pub(crate) parts_in_flight: usize,
    /// Parts of all uploads that may be in memory at once; `None`: no limit.
    pub(crate) part_slots: Option<Arc<Semaphore>>,
}

/// What an upload has begun and not finished.
pub(crate) struct UnfinishedUpload {
    pub(crate) key: BlobKey,
    pub(crate) parts: Option<Box<dyn MultipartUpload>>,
    /// Whether the step that publishes was begun: the blob may be visible.
    pub(crate) is_published: bool,
}

/// Where a blob is within the backend.
pub(crate) fn location(key: &BlobKey) -> Path {
    Path::from(key.as_str())
}

/// Waits for a request that carries `bytes`, at most for the timeout of the backend.
pub(crate) async fn with_timeout<T>(
    backend: &dyn Backend,
    bytes: u64,
    request: impl Future<Output = object_store::Result<T>> + Send,
) -> object_store::Result<T> {
    let Some(timeout) = backend.timeout(bytes) else {
        return request.await;
    };
    tokio::time::timeout(timeout, request).await.unwrap_or_else(|_| {
        let text = format!("no answer within {:.1} s", timeout.as_secs_f32());
        Err(object_store::Error::Generic {
            store: "blobs",
            source: io::Error::new(io::ErrorKind::TimedOut, text).into(),
        })
    })
}

/// Success for an object that is already gone.
pub(crate) fn ignore_missing(result: object_store::Result<()>) -> object_store::Result<()> {
    match result {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        other => other,
    }
}
