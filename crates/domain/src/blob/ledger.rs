//! The port to the used and the discarded blobs in the database.

use super::BlobKey;
use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use std::collections::HashSet;

/// A stored record's claim on a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobReference {
    pub key: BlobKey,
    /// In bytes.
    pub size: u64,
    pub checksum: Sha1Checksum,
    /// The record in words, such as `resource 88de5c02-… of Acme Print`.
    pub owner: String,
}

/// The table of discarded blobs, and lookups of the blobs that records refer to.
///
/// [`crate::resource::ResourceRepository`] enters the blobs that it replaces or deletes in the same
/// transaction. The sweep deletes them and then calls [`BlobLedger::forget`].
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait BlobLedger: Send + Sync + 'static {
    /// Enters blobs that nothing refers to, such as those of an upload that lost.
    async fn discard(&self, keys: &[BlobKey], now: Timestamp) -> Result<(), StoreError>;

    /// Up to `limit` blobs that were discarded before `before`, the oldest first.
    async fn discarded_before(&self, before: Timestamp, limit: u64) -> Result<Vec<BlobKey>, StoreError>;

    /// Postpones discarded blobs that can't be removed: they come after those that were discarded before `now`. Others stay
    /// as they are.
    async fn postpone(&self, keys: &[BlobKey], now: Timestamp) -> Result<(), StoreError>;

    /// Takes blobs out of the table, after they were removed from the blob store.
    async fn forget(&self, keys: &[BlobKey]) -> Result<(), StoreError>;

    /// Those of `keys` that a record refers to or that are discarded.
    async fn known(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError>;

    /// Every claim of a stored record on a blob, in any order.
    fn references(&self) -> BoxStream<'static, Result<BlobReference, StoreError>>;

    /// Those of `keys` that a record refers to.
    async fn referenced(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError>;
}
