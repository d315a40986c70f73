//! The way of contents into the blob store, and out of it again where no record came to refer to them.

use super::{BlobKey, BlobKind, BlobLedger, BlobStore, BlobWriter};
use crate::checksum::Sha1Checksum;
use crate::clock::{Clock, IdSource};
use crate::error::{Failure, Outcome, StoreError};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::sync::Arc;

/// The uploads of a use case.
pub(crate) struct Uploads {
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) ledger: Arc<dyn BlobLedger>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Uploads {
    /// Begins a content under a fresh key.
    pub(crate) async fn begin(&self, kind: BlobKind) -> Result<Upload, StoreError> {
        let key = BlobKey::new(kind, self.ids.guid());
        let writer = self.blobs.create(&key).await?;
        Ok(Upload { key, writer, size: 0 })
    }

    /// Publishes a content.
    pub(crate) async fn finish(&self, mut upload: Upload) -> Result<Uploaded, StoreError> {
        match upload.writer.finish().await {
            Ok(checksum) => Ok(Uploaded { key: upload.key, checksum, size: upload.size }),
            Err(error) => {
                // It may have been published all the same, or be yet.
                self.leave_to_sweep(&[upload.key], self.clock.now()).await;
                Err(error)
            }
        }
    }

    /// Removes contents that no record came to refer to. After `outcome` has shown that a store fails,
    /// the client, who has waited for that, does not wait for their removal too.
    pub(crate) async fn remove_after<T>(&self, outcome: &Outcome<T>, keys: &[BlobKey]) {
        match outcome {
            Err(Failure::Store(_)) => self.leave_to_sweep(keys, long_ago()).await,
            _ => self.remove(keys).await,
        }
    }

    /// Removes contents that no record refers to.
    pub(crate) async fn remove(&self, keys: &[BlobKey]) {
        for (position, key) in keys.iter().enumerate() {
            if self.blobs.delete(key).await.is_err() {
                drop(self.ledger.discard(&keys[position..], long_ago()).await);
                return;
            }
        }
    }

    /// Notes contents down for the sweep. Where that fails too they are removed here; what even that
    /// leaves is an orphan, which `blobs check` finds.
    async fn leave_to_sweep(&self, keys: &[BlobKey], discarded: Timestamp) {
        if !keys.is_empty() && self.ledger.discard(keys, discarded).await.is_err() {
            for key in keys {
                drop(self.blobs.delete(key).await);
            }
        }
    }
}

/// A content on its way into the blob store.
pub(crate) struct Upload {
    key: BlobKey,
    writer: Box<dyn BlobWriter>,
    size: u64,
}

/// A content that is durable in the blob store, but that no record refers to yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Uploaded {
    pub(crate) key: BlobKey,
    pub(crate) checksum: Sha1Checksum,
    pub(crate) size: u64,
}

impl Upload {
    pub(crate) async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.size += bytes.len() as u64;
        self.writer.write(bytes).await
    }

    pub(crate) async fn abort(mut self) -> Result<(), StoreError> {
        self.writer.abort().await
    }
}

/// When contents count as discarded that need no grace: no client downloads content that no record has referred to.
fn long_ago() -> Timestamp {
    Timestamp::from_micros(0)
}
