//! The port to the stored log entries.

use super::{ListedLogEntry, LogFilter, NewLogEntry};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use async_trait::async_trait;
use futures_util::stream::BoxStream;

/// The log entries of all organizations.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait LogRepository: Send + Sync + 'static {
    /// Stores an entry. When this returns, the entry MUST be durable (decision L9). It MUST be stored
    /// even if the caller goes away meanwhile.
    async fn add(&self, organization: OrganizationId, entry: NewLogEntry) -> Result<(), StoreError>;

    /// The organization's entries that match, newest first, ties in reverse order of receipt
    /// (decision L8). Memory MUST NOT grow with their number, and no connection may be held while
    /// the reader is slow.
    fn list(
        &self,
        organization: OrganizationId,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<ListedLogEntry, StoreError>>;
}
