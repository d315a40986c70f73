//! The port to the records that requests refer to.

use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use async_trait::async_trait;

/// Looks up computers, devices, queues and jobs of one organization; a record of another one MUST
/// NOT be found (decision O1). Each answers the record's name.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait FleetDirectory: Send + Sync + 'static {
    async fn find_computer(
        &self,
        organization: OrganizationId,
        guid: ComputerGuid,
    ) -> Result<Option<String>, StoreError>;

    async fn find_device(&self, organization: OrganizationId, guid: DeviceGuid) -> Result<Option<String>, StoreError>;

    async fn find_queue(&self, organization: OrganizationId, guid: QueueGuid) -> Result<Option<String>, StoreError>;

    async fn find_job(&self, organization: OrganizationId, guid: JobGuid) -> Result<Option<String>, StoreError>;
}
