//! The port to the audit records.

use super::model::{AuditCursor, AuditFilter, AuditRecord, NewAuditRecord};
use crate::error::StoreError;
use async_trait::async_trait;

/// The audit records. A stored record MUST never change or vanish (decision P9). The record of a change is stored by the
/// port that makes the change, in one step with it.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait AuditRepository: Send + Sync + 'static {
    /// Stores the record of something that changes nothing else, such as a failed sign-in.
    async fn add(&self, record: &NewAuditRecord) -> Result<(), StoreError>;

    /// The newest records that match and come after a place in the list, `limit` at most; the newest first, of one time
    /// the higher id.
    async fn page(
        &self,
        filter: &AuditFilter,
        after: Option<AuditCursor>,
        limit: u64,
    ) -> Result<Vec<AuditRecord>, StoreError>;
}
