//! Brings the content that records refer to into another blob store.

#[cfg(test)]
mod tests;

use super::maintenance::size_and_checksum;
use super::{BlobLedger, BlobReference, BlobStore, ByteStream};
use crate::checksum::ContentHasher;
use crate::error::StoreError;
use futures_util::TryStreamExt;
use std::sync::Arc;

/// Contents that are copied at the same time: enough to hide the answer times of a bucket.
const AT_ONCE: usize = 4;

/// Copies contents under their keys. What is there already stays, so that a transfer that was
/// interrupted goes on.
pub struct ContentTransfer {
    ledger: Arc<dyn BlobLedger>,
    from: Arc<dyn BlobStore>,
    to: Arc<dyn BlobStore>,
}

/// What became of a record's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transferred {
    /// It was copied, and had its size and checksum on the way.
    Copied,
    /// It was there before.
    Kept,
    /// The store that it comes from doesn't have it.
    Missing,
    /// It doesn't have its size or checksum, and was not copied.
    Damaged,
}

/// How much there is to be transferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContentTotal {
    pub contents: u64,
    pub bytes: u64,
}

impl ContentTransfer {
    /// From one store to another, for the records that `ledger` knows.
    #[must_use]
    pub fn new(ledger: Arc<dyn BlobLedger>, from: Arc<dyn BlobStore>, to: Arc<dyn BlobStore>) -> Self {
        Self { ledger, from, to }
    }

    /// How much the records refer to.
    ///
    /// # Errors
    /// The first store failure.
    pub async fn total(&self) -> Result<ContentTotal, StoreError> {
        let add = |total: ContentTotal, reference: BlobReference| async move {
            Ok(ContentTotal { contents: total.contents + 1, bytes: total.bytes + reference.size })
        };
        self.ledger.references().try_fold(ContentTotal::default(), add).await
    }

    /// Transfers all contents and passes the outcome of each to `report`, in any order.
    ///
    /// # Errors
    /// The first store failure. What was copied before stays.
    pub async fn run(&self, mut report: impl FnMut(&BlobReference, Transferred) + Send) -> Result<(), StoreError> {
        let transfer = |reference: BlobReference| async move {
            let transferred = self.transfer(&reference).await?;
            Ok::<_, StoreError>((reference, transferred))
        };
        let mut transfers = self.ledger.references().map_ok(transfer).try_buffer_unordered(AT_ONCE);
        while let Some((reference, transferred)) = transfers.try_next().await? {
            report(&reference, transferred);
        }
        Ok(())
    }

    async fn transfer(&self, reference: &BlobReference) -> Result<Transferred, StoreError> {
        match self.to.size(&reference.key).await? {
            Some(size) if size == reference.size => return Ok(Transferred::Kept),
            // Blobs appear whole or not at all; what has another size was damaged since. It goes only for one
            // that is whole: both sides may be one store.
            Some(_) => match size_and_checksum(&*self.from, &reference.key).await {
                Ok(Some(found)) if found == (reference.size, reference.checksum) => {
                    self.to.delete(&reference.key).await?;
                }
                Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => return Ok(Transferred::Damaged),
                Ok(None) => return Ok(Transferred::Missing),
                Err(error) => return Err(error),
            },
            None => {}
        }
        match self.from.read(&reference.key, None).await? {
            Some(content) => self.copy(reference, content).await,
            None => Ok(Transferred::Missing),
        }
    }

    async fn copy(&self, reference: &BlobReference, mut content: ByteStream) -> Result<Transferred, StoreError> {
        let mut writer = self.to.create(&reference.key).await?;
        let mut hasher = ContentHasher::new();
        let mut size = 0;
        loop {
            match content.try_next().await {
                Ok(Some(bytes)) => {
                    hasher.update(&bytes);
                    size += bytes.len() as u64;
                    writer.write(bytes).await?;
                }
                Ok(None) if (size, hasher.finish()) == (reference.size, reference.checksum) => {
                    writer.finish().await?;
                    return Ok(Transferred::Copied);
                }
                Ok(None) | Err(StoreError::Corrupt { .. }) => {
                    writer.abort().await?;
                    return Ok(Transferred::Damaged);
                }
                Err(error) => return Err(error),
            }
        }
    }
}
