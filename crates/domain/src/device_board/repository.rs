//! The port to devices as operators see them.

use super::{BoardDevice, DeviceCursor, DeviceFilter, DeviceForecast, DeviceSort, DeviceTally, Moment};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use crate::page::{Page, PageRequest};
use async_trait::async_trait;

/// The registered devices with their last status. Retired devices don't count.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait DeviceBoardRepository: Send + Sync + 'static {
    /// A page of the devices that match. Names are compared by the numbers of their characters, of equal ones GUIDs.
    async fn page(
        &self,
        filter: &DeviceFilter,
        sort: DeviceSort,
        moment: Moment,
        asked: &PageRequest<DeviceCursor>,
    ) -> Result<Page<BoardDevice, DeviceCursor>, StoreError>;

    /// The device of this GUID, if it is of this organization; of any for `None`.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: DeviceGuid,
    ) -> Result<Option<BoardDevice>, StoreError>;

    /// Counts the devices of an organization, or of all, by status and by why they need somebody.
    async fn count(&self, organization: Option<OrganizationId>, moment: Moment)
    -> Result<Vec<DeviceTally>, StoreError>;

    /// The next devices to make a forecast for: at most `limit` that have a status, by GUID, after `after`.
    async fn devices_to_forecast(
        &self,
        after: Option<DeviceGuid>,
        limit: u64,
    ) -> Result<Vec<(OrganizationId, DeviceGuid)>, StoreError>;

    /// Replaces the forecasts of these devices, all or none. A device without a status keeps none.
    async fn store_forecasts(&self, forecasts: &[DeviceForecast]) -> Result<(), StoreError>;
}
