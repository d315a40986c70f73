//! The blob store port over `object_store`: a folder on a local disk, a bucket of S3, or memory.
//!
//! All three hold the same contract, which the suite in `domain::contract::blob_store` checks. Keys
//! come from [`domain::blob::BlobKey`] alone, which has one closed form, so that no text of a client
//! ever becomes part of a path.
//!
//! # Local disk
//! `object_store` writes a blob to `<name>#1`, syncs it, renames it and syncs its folder before
//! `finish` returns. Files with `#` that a killed process leaves are removed by `sweep_unfinished`.
//! Deletions are not synced: after a power failure a deleted blob may be there again, which
//! `platen blobs check` reports as an orphan.
//!
//! # S3
//! A blob of up to 5 MiB is one PUT; a larger one is a multipart upload. A failed or dropped upload
//! is aborted, with retries. A killed process cannot abort, and `object_store` cannot list its parts:
//! `sweep_unfinished` returns 0, and the bucket should have a lifecycle rule that aborts incomplete
//! multipart uploads after a day (`AbortIncompleteMultipartUpload` with `DaysAfterInitiation` 1).
//! Every request has a timeout. Nothing depends on conditional writes, in which servers differ.
//!
//! Credentials are those of the configuration, else of the environment, of a web identity or the
//! container, of a profile file (keys, read once when the store is opened), else of the instance.

mod backend;
mod cache;
mod config;
mod error;
mod metrics;
mod store;
mod upload;

pub use config::{AccessKey, BlobConfig, S3Config};
pub use error::OpenError;

use crate::backend::Backend;
use crate::backend::local::LocalBackend;
use crate::backend::memory::MemoryBackend;
use crate::backend::s3::S3Backend;
use crate::cache::BlobCache;
use crate::store::ObjectBlobStore;
use domain::blob::BlobStore;
use std::sync::Arc;

/// Opens the blob store for commands that may only read, such as `platen blobs check`: a folder or a
/// bucket that can't be written to will do. Open and use the store within a tokio runtime.
///
/// # Errors
/// The folder can't be made or read; the bucket can't be reached or refuses access; the
/// configuration contradicts itself.
pub async fn open(config: &BlobConfig) -> Result<Arc<dyn BlobStore>, OpenError> {
    Ok(Arc::new(ObjectBlobStore::new(open_backend(config).await?, None)))
}

/// Opens the blob store for commands that write.
///
/// # Errors
/// Those of [`open`], and what [`BlobStore::ping`] reports.
pub async fn open_for_writing(config: &BlobConfig) -> Result<Arc<dyn BlobStore>, OpenError> {
    open_writable(config, None).await
}

/// Opens the blob store for the server: contents of up to 4 MiB that are read whole again and again
/// are answered from memory, 32 MiB in all (ADR 56).
///
/// # Errors
/// Those of [`open_for_writing`].
pub async fn open_for_serving(config: &BlobConfig) -> Result<Arc<dyn BlobStore>, OpenError> {
    open_writable(config, Some(BlobCache::new())).await
}

async fn open_writable(config: &BlobConfig, cache: Option<BlobCache>) -> Result<Arc<dyn BlobStore>, OpenError> {
    let store = ObjectBlobStore::new(open_backend(config).await?, cache);
    store.ping().await.map_err(|error| OpenError::new(&error, ""))?;
    Ok(Arc::new(store))
}

async fn open_backend(config: &BlobConfig) -> Result<Arc<dyn Backend>, OpenError> {
    Ok(match config {
        BlobConfig::Local { path } => Arc::new(LocalBackend::open(path.clone()).await?),
        BlobConfig::S3(config) => Arc::new(S3Backend::open(config).await?),
        BlobConfig::Memory => Arc::new(MemoryBackend::default()),
    })
}
