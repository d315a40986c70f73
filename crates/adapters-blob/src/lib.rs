//! The blob store port over `object_store`: a folder on a local disk, a bucket of S3, or memory.
//!
//! All three hold the same contract, which the suite in `domain::contract::blob_store` checks. Keys
//! come from [`domain::blob::BlobKey`] alone, which has one closed form, so that no text of a client
//! ever becomes part of a path.
//!
//! # Local disk
//! A blob is written beside its place, synced, renamed and its folder synced, before `finish`
//! returns; folders are made durable before the first blob in them. What killed processes leave is
//! removed by `sweep_unfinished`: everything that is older than the opening, if no other process has
//! the folder open, else only what nobody has written to for an hour. Deletions are not synced:
//! after a power failure a deleted blob may be there again, which `platen blobs check` calls an
//! orphan.
//!
//! # S3
//! Blobs of up to 5 MiB are one PUT; larger ones are multipart uploads, of which three parts at most
//! are in memory, and eight of all uploads together. An upload that fails or is dropped is aborted, over several tries. A process that
//! is killed can't do that, and its parts are not to be found through `object_store`:
//! `sweep_unfinished` returns 0, and the bucket should have a lifecycle rule that aborts incomplete
//! multipart uploads after a day (`AbortIncompleteMultipartUpload` with `DaysAfterInitiation` 1).
//! Every request is bounded in time and tries. Nothing rests on conditional writes, in which servers
//! differ.
//!
//! Credentials are those of the configuration, else of the environment, of a web identity or the
//! container, of a profile file (keys, read once at opening), else of the instance.

mod error;
mod kept;
mod local;
mod memory;
mod metered;
mod place;
mod s3;
mod store;
mod upload;

pub use kept::with_contents_in_memory;

use crate::error::spelled_out;
use crate::local::LocalPlace;
use crate::memory::MemoryPlace;
use crate::metered::MeteredBlobStore;
use crate::place::Place;
use crate::s3::S3Place;
use crate::store::ObjectBlobStore;
use domain::blob::BlobStore;
use domain::error::StoreError;
use secrecy::SecretString;
use std::path::PathBuf;
use std::sync::Arc;

/// Where blobs are kept. `Debug` shows no secret.
#[derive(Debug, Clone)]
pub enum BlobConfig {
    /// A folder, made when it is missing.
    Local { path: PathBuf },
    /// A bucket, which must exist.
    S3(S3Config),
    /// Nowhere for long.
    Memory,
}

impl BlobConfig {
    /// Whether both name one place in the same way.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local { path: one }, Self::Local { path: other }) => {
                let whole = |path: &PathBuf| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
                whole(one) == whole(other)
            }
            (Self::S3(one), Self::S3(other)) => one.name() == other.name(),
            _ => false,
        }
    }
}

impl S3Config {
    /// Whether the endpoint fits the settings beside it, as far as they themselves tell.
    ///
    /// # Errors
    /// What doesn't fit, in one line that begins with the name of a setting.
    pub fn check(&self) -> Result<(), &'static str> {
        s3::endpoint(self).map(drop)
    }

    /// What tells one place from another.
    fn name(&self) -> (&str, Option<&str>, &str) {
        let endpoint = self.endpoint.as_deref().map(|endpoint| endpoint.trim_end_matches('/'));
        (&self.bucket, endpoint, self.prefix.as_deref().unwrap_or_default().trim_matches('/'))
    }
}

/// A bucket and the way to it. `Debug` shows no secret.
#[derive(Debug, Clone, Default)]
pub struct S3Config {
    pub bucket: String,
    /// Goes before every key, with a slash between.
    pub prefix: Option<String>,
    /// Default: that of the environment or of the profile, else `us-east-1`.
    pub region: Option<String>,
    /// The URL of a server other than AWS.
    pub endpoint: Option<String>,
    /// Without one the usual AWS sources are asked.
    pub access_key: Option<AccessKey>,
    /// Permits an endpoint without TLS.
    pub allow_http: bool,
    /// Names the bucket in the path and not in the host name.
    pub path_style: bool,
}

/// An access key of S3. `Debug` shows nothing of it.
#[derive(Debug, Clone)]
pub struct AccessKey {
    pub id: SecretString,
    pub secret: SecretString,
}

/// Why a blob store can't be opened, in one line that names the place and the cause.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another try won't help.
    #[error("{0}")]
    Misconfigured(String),
    /// Another try may help.
    #[error("{0}")]
    Unavailable(String),
}

impl OpenError {
    fn from_store(error: &StoreError, remark: &str) -> Self {
        // The outermost words say no more than the variant.
        let told = std::error::Error::source(error).map_or_else(|| spelled_out(error), spelled_out) + remark;
        match error {
            StoreError::Unavailable(_) => Self::Unavailable(told),
            _ => Self::Misconfigured(told),
        }
    }
}

/// Opens the blob store. It must be called, and used, within a tokio runtime.
///
/// # Errors
/// The folder can't be made or read; the bucket can't be reached or doesn't let us in; the
/// configuration contradicts itself.
pub async fn open(config: &BlobConfig) -> Result<Arc<dyn BlobStore>, OpenError> {
    let place: Arc<dyn Place> = match config {
        BlobConfig::Local { path } => Arc::new(open_folder(path.clone()).await?),
        BlobConfig::S3(config) => Arc::new(S3Place::open(config).await?),
        BlobConfig::Memory => Arc::new(MemoryPlace::default()),
    };
    Ok(Arc::new(MeteredBlobStore::new(ObjectBlobStore::new(place))))
}

/// As [`open`], for whoever is going to write: a folder that takes no file is refused now and not at the first
/// upload. A check of blobs works on one that is read-only.
///
/// # Errors
/// As those of [`open`], and what [`BlobStore::ping`] reports.
pub async fn open_for_writing(config: &BlobConfig) -> Result<Arc<dyn BlobStore>, OpenError> {
    let blobs = open(config).await?;
    blobs.ping().await.map_err(|error| OpenError::from_store(&error, ""))?;
    Ok(blobs)
}

async fn open_folder(path: PathBuf) -> Result<LocalPlace, OpenError> {
    let name = format!("folder {}", path.display());
    let opened = tokio::task::spawn_blocking(move || LocalPlace::open(&path)).await;
    opened
        .map_err(std::io::Error::other)
        .flatten()
        .map_err(|cause| OpenError::from_store(&error::io_error("keep blobs", &name, cause), ""))
}
