//! The port to the past of devices. It only reads: what is kept is written with the status (decision I1).

use super::{DeviceSample, Period, StateChange};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use futures_util::stream::BoxStream;

/// The past of devices, oldest first.
///
/// Each status that [`crate::device_status::DeviceStatusRepository::put`] has stored MUST be found here from the same
/// moment on: as a change if Status or ConnectionState differ from the status before, as a sample if the last one is
/// older than the interval. Statuses of one device that are less than a second apart may be merged. The first status of
/// a device is both.
///
/// Memory MUST NOT grow with the length of a list, and no connection may be held while its reader is slow.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
pub trait DeviceHistoryRepository: Send + Sync + 'static {
    /// The changes of a device within a period, before them the state at its beginning, with the time since when, if
    /// that is known.
    fn changes(
        &self,
        organization: OrganizationId,
        device: DeviceGuid,
        period: Period,
    ) -> BoxStream<'static, Result<StateChange, StoreError>>;

    /// The samples of a device within a period, `most` of them at most: where there are more, those that
    /// [`super::Thinning`] chooses.
    fn samples(
        &self,
        organization: OrganizationId,
        device: DeviceGuid,
        period: Period,
        most: u32,
    ) -> BoxStream<'static, Result<DeviceSample, StoreError>>;
}
