//! The blob store port and the keys under which it keeps content.

use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use std::fmt;
use std::ops::Range;
use uuid::Uuid;

/// Bytes as they come from a store.
pub type ByteStream = BoxStream<'static, Result<Bytes, StoreError>>;

/// What a blob belongs to; the first segment of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobKind {
    /// The content of a resource.
    Resource,
    /// A part of a crash report.
    CrashReport,
}

impl BlobKind {
    /// Every kind there is.
    pub const ALL: [Self; 2] = [Self::Resource, Self::CrashReport];

    /// The folder that holds the blobs of this kind.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Resource => "resources",
            Self::CrashReport => "crash-reports",
        }
    }
}

/// The name of a blob: `resources/ab/abcdef01-…` or `crash-reports/ab/…`. The only place that
/// builds one. Each upload gets a new key, which is never used again, so that a blob, once
/// written, never changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobKey(String);

impl BlobKey {
    /// The key of a new blob.
    #[must_use]
    pub fn new(kind: BlobKind, id: Uuid) -> Self {
        let folder = kind.folder();
        let id = id.as_hyphenated().to_string();
        // The first digits spread the blobs over folders that stay small on a local disk.
        Self(format!("{folder}/{}/{id}", &id[..2]))
    }

    /// Parses a key from the list of a store or from a database column; `None` if it has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (folder, rest) = text.split_once('/')?;
        let (place, id) = rest.split_once('/')?;
        let is_folder = BlobKind::ALL.into_iter().any(|kind| kind.folder() == folder);
        // Only the spelling of `new` counts. Calling `new` for comparison would take most of the time of reading a row.
        let is_id = Uuid::try_parse(id).ok()?.as_hyphenated().encode_lower(&mut Uuid::encode_buffer()) == id;
        (is_folder && is_id && id[..2] == *place).then(|| Self(text.to_owned()))
    }

    /// The key as a relative path with `/` between its segments.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A blob as the store lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobEntry {
    pub key: BlobKey,
    /// Bytes.
    pub size: u64,
    pub modified: Timestamp,
}

/// Where binary content is kept. Memory must not grow with the size of a blob.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait BlobStore: Send + Sync + 'static {
    /// Begins a new blob under `key`, which no blob has or had.
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError>;

    /// The bytes `range` of a blob, or all of them. `None` if there is no such blob. A stream that
    /// has begun MUST be served whole even if the blob is deleted meanwhile (decision T18). A range
    /// lies within the blob.
    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError>;

    /// Deletes a blob. Deleting one that isn't there succeeds.
    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError>;

    /// The size of a blob in bytes; `None` if there is no such blob.
    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError>;

    /// All published blobs, in any order. Files that aren't ours are left out.
    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>>;

    /// Removes what uploads that can't go on any more have left half-written; says how many.
    async fn sweep_unfinished(&self) -> Result<u64, StoreError>;

    /// Whether the store can be reached and written to, for readiness.
    async fn ping(&self) -> Result<(), StoreError>;
}

/// A blob being written. It is invisible until `finish` returns. Dropped without `finish`, it leaves
/// nothing, or at most what [`BlobStore::sweep_unfinished`] removes.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait BlobWriter: Send {
    /// Appends bytes. A slow store makes this wait, so that the sender waits too.
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError>;

    /// Publishes the blob atomically, and returns the SHA1 of its content, which the store computes while it is
    /// written. When this returns, the blob MUST be durable (decisions T5, C4).
    async fn finish(&mut self) -> Result<Sha1Checksum, StoreError>;

    /// Gives the blob up and removes what was written.
    async fn abort(&mut self) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys name their kind and spread over folders.
    #[test]
    fn a_key_is_a_path_of_kind_folder_and_id() {
        let id = Uuid::from_u128(0xabcd_ef01_2345_6789_abcd_ef01_2345_6789);
        let resource = BlobKey::new(BlobKind::Resource, id);
        assert_eq!(resource.as_str(), "resources/ab/abcdef01-2345-6789-abcd-ef0123456789");
        let crash_report = BlobKey::new(BlobKind::CrashReport, id);
        assert_eq!(crash_report.to_string(), "crash-reports/ab/abcdef01-2345-6789-abcd-ef0123456789");
    }

    /// Other files in a store are never taken for blobs.
    #[test]
    fn a_key_that_we_never_made_is_refused() {
        let foreign = [
            "",
            "resources",
            "resources/ab",
            "resources/ab/",
            "resources/ab/abcdef01-2345-6789-abcd-ef012345678",
            "resources/ab/abcdef01-2345-6789-abcd-ef0123456789/",
            "resources/ab/abcdef01-2345-6789-abcd-ef0123456789/x",
            "resources/ab/abcdef01-2345-6789-abcd-ef0123456789#1",
            "resources/ac/abcdef01-2345-6789-abcd-ef0123456789",
            "resources/AB/ABCDEF01-2345-6789-ABCD-EF0123456789",
            "resources/ab/abcdef0123456789abcdef0123456789",
            "resources/ab/{abcdef01-2345-6789-abcd-ef0123456789}",
            "/resources/ab/abcdef01-2345-6789-abcd-ef0123456789",
            "resources//abcdef01-2345-6789-abcd-ef0123456789",
            "other/ab/abcdef01-2345-6789-abcd-ef0123456789",
            "../resources/ab/abcdef01-2345-6789-abcd-ef0123456789",
        ];
        for text in foreign {
            assert_eq!(BlobKey::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_key_is_taken_up_again(number: u128, crash_report: bool) {
            let kind = if crash_report { BlobKind::CrashReport } else { BlobKind::Resource };
            let key = BlobKey::new(kind, Uuid::from_u128(number));
            prop_assert_eq!(BlobKey::parse(key.as_str()), Some(key.clone()));
        }

        #[test]
        fn any_text_is_a_key_or_refused(text in "\\PC*|(resources|crash-reports)/[0-9a-f/-]{0,40}") {
            if let Some(key) = BlobKey::parse(&text) {
                prop_assert_eq!(key.as_str(), text);
            }
        }
    }
}
