//! A small fleet of two organizations with every kind of record.

use super::builders::{numbered, resource_guid};
use crate::fleet::{Computer, Device, Fleet, FleetOrganization, Job, Queue, Secret, User};
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid, ResourceGuid};

/// The first organization: no publisher.
pub const ACME: &str = "Acme Print";
/// The `MisKey` of Ann, a user of Acme Print.
pub const ANN_KEY: &str = "ann-key-0123456789";
/// The `MisKey` of Bob, a user of Acme Print.
pub const BOB_KEY: &str = "bob-key-0123456789";
/// The `HardwareHash` of Acme Print's computer, which is assigned to Ann.
pub const ACME_HASH: &str = "HH-0001";
/// The `SerialNumber` of Acme Print's computer.
pub const ACME_SERIAL: &str = "SN-1000";

/// The second organization: a publisher.
pub const ZENITH: &str = "Zenith Media";
/// The `MisKey` of Zoe, a user of Zenith Media.
pub const ZOE_KEY: &str = "zoe-key-0123456789";
/// The `HardwareHash` of Zenith Media's computer, which has no user.
pub const ZENITH_HASH: &str = "HH-0002";
/// The `SerialNumber` of Zenith Media's computer.
pub const ZENITH_SERIAL: &str = "SN-2000";

/// The GUIDs of an organization's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Records {
    pub computer: ComputerGuid,
    pub device: DeviceGuid,
    pub queue: QueueGuid,
    pub job: JobGuid,
    /// A resource that the queue uses.
    pub used_by_queue: ResourceGuid,
    /// A resource that the job uses.
    pub used_by_job: ResourceGuid,
}

/// Computer `RIP-01`, device `Latex 1`, queue `Banner`, job `Order 17`.
#[must_use]
pub fn acme_records() -> Records {
    records(0x0a00)
}

/// Computer `RIP-02`, device `Flatbed`, queue `Boards`, job `Order 18`.
#[must_use]
pub fn zenith_records() -> Records {
    records(0x0b00)
}

fn records(base: u128) -> Records {
    Records {
        computer: ComputerGuid::from(numbered(base + 1)),
        device: DeviceGuid::from(numbered(base + 2)),
        queue: QueueGuid::from(numbered(base + 3)),
        job: JobGuid::from(numbered(base + 4)),
        used_by_queue: resource_guid(base + 5),
        used_by_job: resource_guid(base + 6),
    }
}

/// Acme Print and Zenith Media, all users with keys.
#[must_use]
pub fn a_fleet() -> Fleet {
    let acme = FleetOrganization {
        name: ACME.to_owned(),
        publisher: None,
        users: vec![user("Ann", ANN_KEY), user("Bob", BOB_KEY)],
        computers: vec![Computer {
            guid: acme_records().computer,
            name: Some("RIP-01".to_owned()),
            hardware_hash: Some(Secret::new(ACME_HASH.to_owned())),
            serial_number: Some(ACME_SERIAL.to_owned()),
            user: Some("Ann".to_owned()),
        }],
        ..with_names(acme_records(), "Latex 1", "Banner", "Order 17")
    };
    let zenith = FleetOrganization {
        name: ZENITH.to_owned(),
        publisher: Some(true),
        users: vec![user("Zoe", ZOE_KEY)],
        computers: vec![Computer {
            guid: zenith_records().computer,
            name: Some("RIP-02".to_owned()),
            hardware_hash: Some(Secret::new(ZENITH_HASH.to_owned())),
            serial_number: Some(ZENITH_SERIAL.to_owned()),
            user: None,
        }],
        ..with_names(zenith_records(), "Flatbed", "Boards", "Order 18")
    };
    Fleet { organizations: vec![acme, zenith] }
}

fn user(name: &str, key: &str) -> User {
    User { name: name.to_owned(), mis_key: Some(Secret::new(key.to_owned())) }
}

fn with_names(records: Records, device: &str, queue: &str, job: &str) -> FleetOrganization {
    FleetOrganization {
        devices: vec![Device { guid: records.device, name: Some(device.to_owned()) }],
        queues: vec![Queue {
            guid: records.queue,
            name: Some(queue.to_owned()),
            device: Some(records.device),
            uses: Some(vec![records.used_by_queue]),
        }],
        jobs: vec![Job {
            guid: records.job,
            name: Some(job.to_owned()),
            queue: Some(records.queue),
            uses: Some(vec![records.used_by_job]),
        }],
        ..FleetOrganization::default()
    }
}
