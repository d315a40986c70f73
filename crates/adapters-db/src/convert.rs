//! From columns to the domain's values. A column that holds none of them is damage, not a bug of the
//! reader: it is reported with the record that it belongs to.

use domain::blob::BlobKey;
use domain::checksum::Sha1Checksum;
use domain::error::StoreError;

/// The record whose columns are read.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) what: &'static str,
    pub(crate) id: &'a dyn std::fmt::Display,
}

impl Owner<'_> {
    /// The value, or the report that the record is damaged.
    pub(crate) fn need<T>(self, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| StoreError::Corrupt { what: self.what, id: self.id.to_string() })
    }

    pub(crate) fn blob_key(self, column: &str) -> Result<BlobKey, StoreError> {
        self.need(BlobKey::parse(column))
    }

    pub(crate) fn checksum(self, column: &str) -> Result<Sha1Checksum, StoreError> {
        self.need(Sha1Checksum::parse(column))
    }

    pub(crate) fn size(self, column: i64) -> Result<u64, StoreError> {
        self.need(u64::try_from(column).ok())
    }
}

/// A number of bytes as a column holds it. No store holds more than 2^63 of them.
pub(crate) fn size_column(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
