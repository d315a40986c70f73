//! The port to the last status of each device.

use super::DeviceStatus;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use async_trait::async_trait;

/// One record a device: its last status.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait DeviceStatusRepository: Send + Sync + 'static {
    /// Replaces the status of the device whole (decision D5). Of concurrent calls the one that was
    /// made last MUST win. When this returns, the status MUST outlive the end of our process (D6), and what it
    /// means for the past of the device MUST be kept ([`crate::device_history::DeviceHistoryRepository`]).
    async fn put(&self, organization: OrganizationId, status: DeviceStatus) -> Result<(), StoreError>;

    /// The last status of the device.
    async fn find(&self, organization: OrganizationId, device: DeviceGuid) -> Result<Option<DeviceStatus>, StoreError>;
}
