//! What a fleet file says (operation, "Fleet file"). It is read and written by serde; what is written holds no credential.

use super::FleetRecord;
use super::fields;
use super::keys::Secret;
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid, ResourceGuid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The contents of a fleet file. What is `None` was not given: it stays as it is registered; a record
/// that is new gets its GUID as name and no relations. Names are never blank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    #[serde(default, deserialize_with = "fields::list")]
    pub organizations: Vec<FleetOrganization>,
}

/// An organization, identified by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FleetOrganization {
    #[serde(deserialize_with = "fields::name")]
    pub name: String,
    /// Whether its Public resources are readable by all (decision T15); `None` leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<bool>,
    #[serde(default, deserialize_with = "fields::list")]
    pub users: Vec<User>,
    #[serde(default, deserialize_with = "fields::list")]
    pub computers: Vec<Computer>,
    #[serde(default, deserialize_with = "fields::list")]
    pub devices: Vec<Device>,
    #[serde(default, deserialize_with = "fields::list")]
    pub queues: Vec<Queue>,
    #[serde(default, deserialize_with = "fields::list")]
    pub jobs: Vec<Job>,
    /// Which of these are retired; a fleet file names none.
    #[serde(skip)]
    pub retired: BTreeSet<FleetRecord>,
}

impl FleetOrganization {
    /// The relations between records that it names: record and target.
    #[must_use]
    pub fn relations(&self) -> Vec<(FleetRecord, FleetRecord)> {
        let user = |it: &Computer| Some((FleetRecord::Computer(it.guid), FleetRecord::User(it.user.clone()?)));
        let device = |it: &Queue| Some((FleetRecord::Queue(it.guid), FleetRecord::Device(it.device?)));
        let queue = |it: &Job| Some((FleetRecord::Job(it.guid), FleetRecord::Queue(it.queue?)));
        let computers = self.computers.iter().filter_map(user);
        computers.chain(self.queues.iter().filter_map(device)).chain(self.jobs.iter().filter_map(queue)).collect()
    }

    /// Without the records that are retired, and without relations to them.
    #[must_use]
    pub(super) fn without_retired(mut self) -> Self {
        let retired = std::mem::take(&mut self.retired);
        let is_user_retired = |name: &String| retired.contains(&FleetRecord::User(name.clone()));
        let is_device_retired = |guid: DeviceGuid| retired.contains(&FleetRecord::Device(guid));
        let is_queue_retired = |guid: QueueGuid| retired.contains(&FleetRecord::Queue(guid));
        self.users.retain(|user| !is_user_retired(&user.name));
        self.computers.retain(|computer| !retired.contains(&FleetRecord::Computer(computer.guid)));
        self.devices.retain(|device| !is_device_retired(device.guid));
        self.queues.retain(|queue| !is_queue_retired(queue.guid));
        self.jobs.retain(|job| !retired.contains(&FleetRecord::Job(job.guid)));
        for computer in &mut self.computers {
            computer.user.take_if(|user| is_user_retired(user));
        }
        for queue in &mut self.queues {
            queue.device.take_if(|device| is_device_retired(*device));
        }
        for job in &mut self.jobs {
            job.queue.take_if(|queue| is_queue_retired(*queue));
        }
        self
    }
}

/// A user, identified by the name within the organization.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    #[serde(deserialize_with = "fields::name")]
    pub name: String,
    /// A key brought from elsewhere; absent in exports.
    #[serde(default, deserialize_with = "fields::mis_key", skip_serializing)]
    pub mis_key: Option<Secret>,
}

/// A client computer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Computer {
    pub guid: ComputerGuid,
    #[serde(default, deserialize_with = "fields::optional_name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absent in exports.
    #[serde(default, deserialize_with = "fields::credential", skip_serializing)]
    pub hardware_hash: Option<Secret>,
    #[serde(default, deserialize_with = "fields::header_text", skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// Name of the user to whom it is assigned.
    #[serde(default, deserialize_with = "fields::optional_name", skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A printing device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    pub guid: DeviceGuid,
    #[serde(default, deserialize_with = "fields::optional_name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A print queue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    pub guid: QueueGuid,
    #[serde(default, deserialize_with = "fields::optional_name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceGuid>,
    /// Resources that it uses (decision O3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<Vec<ResourceGuid>>,
}

/// A print job.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub guid: JobGuid,
    #[serde(default, deserialize_with = "fields::optional_name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueGuid>,
    /// Resources that it uses (decision O3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<Vec<ResourceGuid>>,
}
