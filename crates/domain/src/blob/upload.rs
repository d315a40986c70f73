//! Uploads of contents to the blob store, and the removal of contents that no record refers to.

use super::unsettled::{UnsettledBlobs, WITHOUT_GRACE};
use super::{BlobKey, BlobKind, BlobLedger, BlobMaintenance, BlobStore, BlobWriter};
use crate::checksum::Sha1Checksum;
use crate::clock::{Clock, IdSource};
use crate::error::{Failure, Outcome, StoreError, WriteError};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// The uploads of all use cases of a process.
#[derive(Clone)]
pub struct Uploads {
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    ledger: Arc<dyn BlobLedger>,
    unsettled: Arc<UnsettledBlobs>,
}

impl Uploads {
    #[must_use]
    pub fn new(
        blobs: Arc<dyn BlobStore>,
        ledger: Arc<dyn BlobLedger>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { blobs, clock, ids, ledger, unsettled: Arc::default() }
    }

    /// The background work on the contents of these uploads. Discarded contents stay for `grace`.
    #[must_use]
    pub fn maintenance(&self, grace: Duration) -> BlobMaintenance {
        let (blobs, ledger, clock) = (self.blobs.clone(), self.ledger.clone(), self.clock.clone());
        BlobMaintenance::new(self.unsettled.clone(), blobs, ledger, clock, grace)
    }

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
                // The blob may be published already, or later.
                self.leave_to_sweep(&[upload.key], self.clock.now()).await;
                Err(error)
            }
        }
    }

    /// Passes on the outcome of storing a record. If it isn't stored, its contents are removed at once; if that is in
    /// doubt, the sweep settles them.
    pub(crate) async fn settle<T>(&self, stored: Result<T, WriteError>, keys: &[BlobKey]) -> Result<T, StoreError> {
        match stored {
            Ok(stored) => Ok(stored),
            Err(WriteError::NotStored(error)) => {
                for key in keys {
                    // The database has just failed, so it is not asked to enter them as discarded.
                    if self.blobs.delete(key).await.is_err() {
                        self.unsettled.add(std::slice::from_ref(key));
                    }
                }
                Err(error)
            }
            Err(WriteError::InDoubt(error)) => {
                self.unsettled.add(keys);
                Err(error)
            }
        }
    }

    /// Removes contents that no record refers to. If `outcome` is the failure of a store, the client has waited for it and
    /// does not wait for the removal too: the sweep removes them.
    pub(crate) async fn remove_after<T>(&self, outcome: &Outcome<T>, keys: &[BlobKey]) {
        match outcome {
            Err(Failure::Store(_)) => self.leave_to_sweep(keys, WITHOUT_GRACE).await,
            _ => self.remove(keys).await,
        }
    }

    /// Removes contents that no record refers to.
    pub(crate) async fn remove(&self, keys: &[BlobKey]) {
        for (position, key) in keys.iter().enumerate() {
            if self.blobs.delete(key).await.is_err() {
                let left = &keys[position..];
                if self.ledger.discard(left, WITHOUT_GRACE).await.is_err() {
                    self.unsettled.add(left);
                }
                return;
            }
        }
    }

    /// Enters contents as discarded. If that fails, they are removed here, and settled by the sweep.
    async fn leave_to_sweep(&self, keys: &[BlobKey], discarded: Timestamp) {
        if !keys.is_empty() && self.ledger.discard(keys, discarded).await.is_err() {
            self.unsettled.add(keys);
            for key in keys {
                drop(self.blobs.delete(key).await);
            }
        }
    }
}

/// A content that is being written to the blob store.
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
