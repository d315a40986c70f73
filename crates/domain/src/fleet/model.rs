//! What a fleet file says; export gives it back without credentials.

use super::Secret;
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid, ResourceGuid};

/// The contents of a fleet file. What is `None` was not given: it stays as it is registered; a record
/// that is new gets its GUID as name and no relations. Names are never blank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fleet {
    pub organizations: Vec<FleetOrganization>,
}

/// An organization, identified by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FleetOrganization {
    pub name: String,
    /// Whether its Public resources are readable by all (decision T15); `None` leaves it as it is.
    pub publisher: Option<bool>,
    pub users: Vec<User>,
    pub computers: Vec<Computer>,
    pub devices: Vec<Device>,
    pub queues: Vec<Queue>,
    pub jobs: Vec<Job>,
}

/// A user, identified by the name within the organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: String,
    /// A key brought from elsewhere; absent in exports.
    pub mis_key: Option<Secret>,
}

/// A client computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computer {
    pub guid: ComputerGuid,
    pub name: Option<String>,
    /// Absent in exports.
    pub hardware_hash: Option<Secret>,
    pub serial_number: Option<String>,
    /// Name of the user to whom it is assigned.
    pub user: Option<String>,
}

/// A printing device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub guid: DeviceGuid,
    pub name: Option<String>,
}

/// A print queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    pub guid: QueueGuid,
    pub name: Option<String>,
    pub device: Option<DeviceGuid>,
    /// Resources that it uses (decision O3).
    pub uses: Option<Vec<ResourceGuid>>,
}

/// A print job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub guid: JobGuid,
    pub name: Option<String>,
    pub queue: Option<QueueGuid>,
    /// Resources that it uses (decision O3).
    pub uses: Option<Vec<ResourceGuid>>,
}
