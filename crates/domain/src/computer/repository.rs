//! The port to the registered computers, for operators. It only reads.

use super::model::{ComputerCursor, ComputerFilter, ComputerRecord};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use async_trait::async_trait;

/// Reads the registered computers, for operators.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait ComputerRepository: Send + Sync + 'static {
    /// At most `limit` computers after `after` that match `filter`, of one organization or of all (`None`). They are
    /// sorted by the first 128 characters of the name, compared by code point, then by GUID.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ComputerFilter,
        after: Option<ComputerCursor>,
        limit: u64,
    ) -> Result<Vec<ComputerRecord>, StoreError>;

    /// The computer with this GUID in this organization, or in any (`None`).
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: ComputerGuid,
    ) -> Result<Option<ComputerRecord>, StoreError>;
}
