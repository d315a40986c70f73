//! Records as the operator sees them, beside what clients see of them.

use crate::caller::OrganizationId;
use crate::device_status::DeviceStatus;
use crate::guid::DeviceGuid;

/// An organization that is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredOrganization {
    pub id: OrganizationId,
    pub name: String,
}

/// A registered device and its last status.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectedDevice {
    pub guid: DeviceGuid,
    pub name: String,
    /// `None` if it has never sent one.
    pub status: Option<DeviceStatus>,
}
