//! The port to the registered computers, for people. It only reads.

use super::model::{ComputerCursor, ComputerFilter, ComputerRecord};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use async_trait::async_trait;

/// The registered computers, for people.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait ComputerRepository: Send + Sync + 'static {
    /// The computers of an organization, or of all of them (`None`), that match, those after `after`, at most `limit`:
    /// sorted by the first 128 characters of the name, compared by their numbers, then by GUID.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ComputerFilter,
        after: Option<ComputerCursor>,
        limit: u64,
    ) -> Result<Vec<ComputerRecord>, StoreError>;

    /// The computer of this GUID, if it is of this organization; `None` stands for any.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: ComputerGuid,
    ) -> Result<Option<ComputerRecord>, StoreError>;
}
