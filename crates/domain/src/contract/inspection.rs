//! [`crate::inspection::InspectionRepository`]: organizations and devices.

use super::scene::{TEXTS, organizations, register, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::device_status::{DeviceStatus, Status};
use crate::error::StoreError;
use crate::fleet::{Device, FleetOrganization};
use crate::guid::DeviceGuid;
use crate::inspection::{DeviceCount, InspectedDevice, RegisteredOrganization};
use crate::resource::NewResource;
use crate::testing::{ACME, ZENITH, a_resource, a_status, acme_records, at, numbered, zenith_records};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;

/// By the numbers of their characters, whatever the language of the database.
pub async fn organizations_are_listed_by_name(stores: &Stores) -> Kept {
    for name in ["zoo", "Äpfel", "apple", "Zoo", "été"] {
        register(stores, FleetOrganization { name: name.to_owned(), ..FleetOrganization::default() }).await?;
    }
    let names = stores.inspection.organizations(None).await?.into_iter().map(|organization| organization.name);
    assert_eq!(names.collect::<Vec<_>>(), ["Zoo", "apple", "zoo", "Äpfel", "été"]);
    Ok(())
}

/// An unknown name finds no organization.
pub async fn one_organization_is_found_by_its_exact_name(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for (id, name) in [(acme, ACME), (zenith, ZENITH)] {
        let found = stores.inspection.organizations(Some(name.to_owned())).await?;
        assert_eq!(found, [RegisteredOrganization { id, name: name.to_owned() }]);
    }
    for name in ["acme print", "Acme", "Acme Print ", ""] {
        assert_eq!(stores.inspection.organizations(Some(name.to_owned())).await?, [], "{name:?}");
    }
    Ok(())
}

/// A device that never sent a status is listed too.
pub async fn devices_are_listed_with_their_last_status(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let device = acme_records().device;
    let silent = InspectedDevice { guid: device, name: "Latex 1".to_owned(), status: None };
    assert_eq!(devices(stores, acme, &[]).await?, std::slice::from_ref(&silent));
    stores.device_statuses.put(acme, a_status(device)).await?;
    let last = DeviceStatus { received: at(9), message: Some("Order 17".to_owned()), ..a_status(device) };
    stores.device_statuses.put(acme, last.clone()).await?;
    assert_eq!(devices(stores, acme, &[]).await?, [InspectedDevice { status: Some(last), ..silent }]);
    let flatbed = InspectedDevice { guid: zenith_records().device, name: "Flatbed".to_owned(), status: None };
    assert_eq!(devices(stores, zenith, &[]).await?, [flatbed]);
    Ok(())
}

/// Names are compared by the numbers of their characters; of equal ones the lower GUID comes first.
pub async fn devices_are_sorted_by_name_then_guid(stores: &Stores) -> Kept {
    let names = ["b", "a", "B", "ä", "a"].into_iter().chain(TEXTS.iter().copied());
    let mut registered: Vec<(String, DeviceGuid)> =
        (0..).zip(names).map(|(number, name)| (name.to_owned(), DeviceGuid::from(numbered(99 - number)))).collect();
    let acme = register_devices(stores, registered.clone()).await?;
    registered.sort();
    let listed = devices(stores, acme, &[]).await?.into_iter().map(|device| (device.name, device.guid));
    assert_eq!(listed.collect::<Vec<_>>(), registered);
    Ok(())
}

/// One of several statuses is enough; who has none has none of them.
pub async fn devices_are_listed_by_status(stores: &Stores) -> Kept {
    let guid = |number: u128| DeviceGuid::from(numbered(number));
    let named = (0..8).map(|number: u128| (format!("Device {number}"), guid(number))).collect();
    let acme = register_devices(stores, named).await?;
    for (number, status) in (0..).zip(Status::ALL) {
        stores.device_statuses.put(acme, DeviceStatus { status: *status, ..a_status(guid(number)) }).await?;
    }
    let numbers = async |statuses: &[Status]| -> Result<Vec<DeviceGuid>, StoreError> {
        Ok(devices(stores, acme, statuses).await?.into_iter().map(|device| device.guid).collect())
    };
    assert_eq!(numbers(&[]).await?.len(), 8);
    assert_eq!(numbers(&[Status::Error]).await?, [guid(0)]);
    assert_eq!(numbers(&[Status::Calibrating, Status::Offline]).await?, [guid(2), guid(6)]);
    assert_eq!(numbers(Status::ALL).await?.len(), 7);
    Ok(())
}

/// Interface 5, rule 3: also for who names an organization.
pub async fn only_the_devices_of_the_organization_are_listed(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.device_statuses.put(zenith, a_status(zenith_records().device)).await?;
    assert_eq!(devices(stores, acme, &[Status::Idle]).await?, []);
    assert_eq!(devices(stores, OrganizationId(acme.0 + zenith.0 + 1), &[]).await?, []);
    Ok(())
}

/// Pages follow each other without a gap and without a repetition.
pub async fn a_list_of_thousands_of_devices_is_whole_and_in_order(stores: &Stores) -> Kept {
    let guid = |number: u128| DeviceGuid::from(numbered(number));
    let named: Vec<_> = (0..3_000).map(|number: u128| (format!("Device {}", number % 7), guid(number))).collect();
    let acme = register_devices(stores, named).await?;
    try_join_all((0..3_000).map(|number| stores.device_statuses.put(acme, a_status(guid(number * 3 % 3_001))))).await?;
    let listed = devices(stores, acme, &[]).await?;
    assert_eq!(listed.len(), 3_000);
    assert!(listed.is_sorted_by(|one, other| (&one.name, one.guid) < (&other.name, other.guid)));
    Ok(())
}

/// Devices without any status count too; a status at the moment itself is not old.
pub async fn devices_are_counted_by_organization_and_status(stores: &Stores) -> Kept {
    let guid = |number: u128| DeviceGuid::from(numbered(number));
    let named = (0..4).map(|number: u128| (format!("Device {number}"), guid(number))).collect();
    let acme = register_devices(stores, named).await?;
    for (number, status, second) in [(0, Status::Idle, 9), (1, Status::Idle, 10), (2, Status::Error, 1)] {
        let status = DeviceStatus { status, received: at(second), ..a_status(guid(number)) };
        stores.device_statuses.put(acme, status).await?;
    }
    let mut counted = stores.inspection.count_devices(at(10)).await?;
    counted.retain(|count| count.organization == "Organization 0");
    counted.sort_by_key(|count| count.status.map(Status::as_str));
    let count =
        |status, devices, silent| DeviceCount { organization: "Organization 0".to_owned(), status, devices, silent };
    assert_eq!(counted, [count(None, 1, 0), count(Some(Status::Error), 1, 1), count(Some(Status::Idle), 2, 1)]);
    Ok(())
}

/// Vendors ship stock resources: one GUID, a content of its own in each organization (decision T1).
pub async fn a_resource_is_found_in_every_organization_that_has_it(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, true, false]).await?;
    for (second, id) in (1..).zip([ids[2], ids[0]]) {
        let resource = NewResource { modified: at(second), ..a_resource(1) };
        stores.resources.store(id, resource, at(0)).await?;
    }
    stores.resources.store(ids[1], a_resource(2), at(0)).await?;
    let found = stores.inspection.find_resources(a_resource(1).guid).await?;
    let found: Vec<_> = found.into_iter().map(|resource| (resource.organization, resource.modified)).collect();
    assert_eq!(found, [(ids[0], at(2)), (ids[2], at(1))]);
    assert!(stores.inspection.find_resources(a_resource(3).guid).await?.is_empty());
    Ok(())
}

async fn devices(
    stores: &Stores,
    organization: OrganizationId,
    statuses: &[Status],
) -> Result<Vec<InspectedDevice>, StoreError> {
    stores.inspection.devices(organization, statuses.to_vec()).try_collect().await
}

/// Devices of one organization, whose number is answered.
async fn register_devices(
    stores: &Stores,
    named: Vec<(String, DeviceGuid)>,
) -> Result<OrganizationId, Box<dyn std::error::Error + Send + Sync>> {
    let ids = organizations(stores, &[false]).await?;
    let devices = named.into_iter().map(|(name, guid)| Device { guid, name: Some(name) }).collect();
    let organization = FleetOrganization { name: "Organization 0".to_owned(), devices, ..FleetOrganization::default() };
    register(stores, organization).await?;
    Ok(ids[0])
}
