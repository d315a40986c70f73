//! The port to lists of devices and their forecasts, for operators.

use super::{BoardDevice, DeviceCursor, DeviceFilter, DeviceForecast, DeviceSort, DeviceTally, Moment};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use crate::page::{Page, PageRequest};
use async_trait::async_trait;

/// Reads the registered devices with their last status, and stores forecasts. Retired devices are left out.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait DeviceBoardRepository: Send + Sync + 'static {
    /// A page of the devices that match. Names are compared by code point; devices with equal names by GUID.
    async fn page(
        &self,
        filter: &DeviceFilter,
        sort: DeviceSort,
        moment: Moment,
        asked: &PageRequest<DeviceCursor>,
    ) -> Result<Page<BoardDevice, DeviceCursor>, StoreError>;

    /// The device with this GUID in this organization, or in any (`None`).
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: DeviceGuid,
    ) -> Result<Option<BoardDevice>, StoreError>;

    /// Counts the devices of an organization, or of all (`None`), by attention and status.
    async fn count(&self, organization: Option<OrganizationId>, moment: Moment)
    -> Result<Vec<DeviceTally>, StoreError>;

    /// The next devices for a forecast: at most `limit` devices with a status, by GUID, after `after`.
    async fn devices_to_forecast(
        &self,
        after: Option<DeviceGuid>,
        limit: u64,
    ) -> Result<Vec<(OrganizationId, DeviceGuid)>, StoreError>;

    /// Replaces the forecasts of these devices in one transaction. For a device without a status none is stored.
    async fn store_forecasts(&self, forecasts: &[DeviceForecast]) -> Result<(), StoreError>;
}
