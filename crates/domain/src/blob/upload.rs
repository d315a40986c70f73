//! The way of a content into the blob store: counted as it passes.

use super::{BlobKey, BlobStore, BlobWriter};
use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use bytes::Bytes;

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
    pub(crate) async fn begin(blobs: &dyn BlobStore, key: BlobKey) -> Result<Self, StoreError> {
        let writer = blobs.create(&key).await?;
        Ok(Self { key, writer, size: 0 })
    }

    pub(crate) async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.size += bytes.len() as u64;
        self.writer.write(bytes).await
    }

    pub(crate) async fn finish(mut self) -> Result<Uploaded, StoreError> {
        let checksum = self.writer.finish().await?;
        Ok(Uploaded { key: self.key, checksum, size: self.size })
    }

    pub(crate) async fn abort(mut self) -> Result<(), StoreError> {
        self.writer.abort().await
    }
}
