//! [`crate::fleet::FleetDirectory`].

use super::scene::{register, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::{Computer, Device, FleetOrganization, Job, Queue};
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use crate::testing::{ACME, Records, acme_records, numbered, resource_guid, zenith_records};

/// Decision O1.
pub async fn records_are_found_by_guid_with_their_names(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let names = ["RIP-01", "Latex 1", "Banner", "Order 17"].map(|name| Some(name.to_owned()));
    assert_eq!(names_of(stores, acme, acme_records()).await?, names);
    let names = ["RIP-02", "Flatbed", "Boards", "Order 18"].map(|name| Some(name.to_owned()));
    assert_eq!(names_of(stores, zenith, zenith_records()).await?, names);
    Ok(())
}

/// Decision O1: a reference to a GUID of another organization is not found.
pub async fn records_of_another_organization_are_not_found(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    assert_eq!(names_of(stores, zenith, acme_records()).await?, [const { None }; 4]);
    assert_eq!(names_of(stores, acme, zenith_records()).await?, [const { None }; 4]);
    Ok(())
}

/// An unregistered record is not found, and each kind has its own GUIDs.
pub async fn unknown_records_are_not_found(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let own = acme_records();
    let turned = Records {
        computer: ComputerGuid::from(own.device.as_uuid()),
        device: DeviceGuid::from(own.queue.as_uuid()),
        queue: QueueGuid::from(own.job.as_uuid()),
        job: JobGuid::from(own.computer.as_uuid()),
        ..own
    };
    assert_eq!(names_of(stores, acme, turned).await?, [const { None }; 4]);
    Ok(())
}

/// Decision O1: the name is the GUID where the file gives none.
pub async fn a_record_without_a_name_bears_its_guid(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let guids = [0xAB01, 0xAB02, 0xAB03, 0xAB04].map(numbered);
    let nameless = Records {
        computer: ComputerGuid::from(guids[0]),
        device: DeviceGuid::from(guids[1]),
        queue: QueueGuid::from(guids[2]),
        job: JobGuid::from(guids[3]),
        used_by_queue: resource_guid(1),
        used_by_job: resource_guid(1),
    };
    let (computer, device, queue, job) = (nameless.computer, nameless.device, nameless.queue, nameless.job);
    let organization = FleetOrganization {
        name: ACME.to_owned(),
        computers: vec![Computer { guid: computer, name: None, hardware_hash: None, serial_number: None, user: None }],
        devices: vec![Device { guid: device, name: None }],
        queues: vec![Queue { guid: queue, name: None, device: None, uses: None }],
        jobs: vec![Job { guid: job, name: None, queue: None, uses: None }],
        ..FleetOrganization::default()
    };
    register(stores, organization).await?;
    let names = guids.map(|guid| Some(guid.as_hyphenated().to_string()));
    assert_eq!(names_of(stores, acme, nameless).await?, names);
    Ok(())
}

async fn names_of(
    stores: &Stores,
    organization: OrganizationId,
    records: Records,
) -> Result<[Option<String>; 4], StoreError> {
    let directory = &stores.fleet_directory;
    Ok([
        directory.find_computer(organization, records.computer).await?,
        directory.find_device(organization, records.device).await?,
        directory.find_queue(organization, records.queue).await?,
        directory.find_job(organization, records.job).await?,
    ])
}
