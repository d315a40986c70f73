//! The port to what is stored of all organizations. It only reads.

use super::{InspectedDevice, RegisteredOrganization};
use crate::caller::OrganizationId;
use crate::device_status::Status;
use crate::error::StoreError;
use async_trait::async_trait;
use futures_util::stream::BoxStream;

/// What is stored, for the operator. No method changes anything.
///
/// Memory MUST NOT grow with the length of a list, and no connection may be held while its reader is slow.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait InspectionRepository: Send + Sync + 'static {
    /// All organizations, or the one of exactly this name if there is one, sorted by name.
    async fn organizations(&self, name: Option<String>) -> Result<Vec<RegisteredOrganization>, StoreError>;

    /// The devices of an organization with their last status, sorted by name, then GUID. Where `statuses` names
    /// any, only devices whose last status is one of them.
    fn devices(
        &self,
        organization: OrganizationId,
        statuses: Vec<Status>,
    ) -> BoxStream<'static, Result<InspectedDevice, StoreError>>;
}
