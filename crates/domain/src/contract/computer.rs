//! [`crate::computer::ComputerRepository`].

use super::scene::{TEXTS, register, two_organizations};
use super::{Kept, Stores};
use crate::activity::{LastRequest, Sender};
use crate::caller::OrganizationId;
use crate::computer::{ComputerFilter, ComputerRecord};
use crate::error::StoreError;
use crate::fleet::{Computer, FleetOrganization, FleetRecord, User};
use crate::guid::ComputerGuid;
use crate::testing::{ACME, ACME_SERIAL, acme_records, at, numbered, zenith_records};
use crate::timestamp::Timestamp;

/// The computers of a list that is read in pages of two.
async fn listed(
    stores: &Stores,
    organization: Option<OrganizationId>,
    filter: &ComputerFilter,
) -> Result<Vec<ComputerRecord>, StoreError> {
    let (mut after, mut rows) = (None, Vec::new());
    loop {
        let page = stores.computers.page(organization, filter, after, 2).await?;
        let Some(last) = page.last() else { return Ok(rows) };
        assert!(page.len() <= 2);
        after = Some(last.cursor());
        rows.extend(page);
    }
}

fn computer(number: u128, name: &str) -> Computer {
    let guid = ComputerGuid::from(numbered(number));
    Computer { guid, name: Some(name.to_owned()), hardware_hash: None, serial_number: None, user: None }
}

fn request(at: Timestamp) -> LastRequest {
    LastRequest {
        at,
        address: Some("192.0.2.7".to_owned()),
        serial_number: "SN".to_owned(),
        application_version: "9.2".to_owned(),
    }
}

/// The first 128 characters of names are compared by code point; of equal names the lower GUID comes first.
pub async fn computers_are_listed_by_name_in_pages(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = "ä".repeat(100_000);
    let names = ["b", "a", "B", "ä", "a", long.as_str(), &long[..256]].into_iter().chain(TEXTS.iter().copied());
    let computers: Vec<Computer> = (0..).zip(names).map(|(number, name)| computer(99 - number, name)).collect();
    let mut expected: Vec<(String, ComputerGuid)> = computers
        .iter()
        .map(|one| (one.name.iter().flat_map(|name| name.chars()).take(128).collect(), one.guid))
        .chain([("RIP-01".to_owned(), acme_records().computer)])
        .collect();
    expected.sort();
    register(stores, FleetOrganization { name: ACME.to_owned(), computers, ..FleetOrganization::default() }).await?;
    let own = listed(stores, Some(acme), &ComputerFilter::default()).await?;
    let keys = |rows: &[ComputerRecord]| -> Vec<(String, ComputerGuid)> {
        rows.iter().map(ComputerRecord::cursor).map(|cursor| (cursor.name, cursor.guid)).collect()
    };
    assert_eq!(keys(&own), expected);
    expected.push(("RIP-02".to_owned(), zenith_records().computer));
    expected.sort();
    assert_eq!(keys(&listed(stores, None, &ComputerFilter::default()).await?), expected);
    Ok(())
}

/// By name, SerialNumber, user or GUID, and by the last request.
pub async fn computers_are_filtered(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let user = User { name: "Carla 100%".to_owned(), mis_key: None };
    let own = Computer { user: Some(user.name.clone()), ..computer(7, "Studio_A") };
    let computers = vec![own, computer(8, "StudioXA")];
    let organization = FleetOrganization { name: ACME.to_owned(), users: vec![user], computers, ..Default::default() };
    register(stores, organization).await?;
    let guid = acme_records().computer;
    let seen = [(Sender::Computer(acme, guid), request(at(50)))];
    stores.activity.store_requests(&seen).await?;
    let search = |text: &str| ComputerFilter { search: Some(text.to_owned()), ..ComputerFilter::default() };
    let since = |seconds| ComputerFilter { seen_since: Some(at(seconds)), ..ComputerFilter::default() };
    for (filter, expected) in [
        (search("rip-0"), vec!["RIP-01", "RIP-02"]),
        (search("STUDIO_A"), vec!["Studio_A"]),
        (search("carla 100%"), vec!["Studio_A"]),
        (search("ann"), vec!["RIP-01"]),
        (search(&ACME_SERIAL.to_lowercase()), vec!["RIP-01"]),
        (search(&guid.to_string().to_uppercase()), vec!["RIP-01"]),
        (search("nowhere"), vec![]),
        (since(50), vec!["RIP-01"]),
        (since(51), vec![]),
    ] {
        let rows = listed(stores, None, &filter).await?;
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), expected, "{filter:?}");
    }
    assert_eq!(listed(stores, Some(zenith), &search("rip-0")).await?.len(), 1);
    Ok(())
}

/// Decision I8. Retired computers too, and only those of the organization.
pub async fn a_computer_is_found_with_its_last_request(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let guid = acme_records().computer;
    let expected = ComputerRecord {
        organization: acme,
        guid,
        name: "RIP-01".to_owned(),
        serial_number: Some(ACME_SERIAL.to_owned()),
        user: Some("Ann".to_owned()),
        is_retired: false,
        last_request: None,
    };
    assert_eq!(stores.computers.find(None, guid).await?, Some(expected.clone()));
    stores.activity.store_requests(&[(Sender::Computer(acme, guid), request(at(5)))]).await?;
    stores.records.set_retired(ACME, &FleetRecord::Computer(guid), Some(at(1))).await?;
    let expected = ComputerRecord { is_retired: true, last_request: Some(request(at(5))), ..expected };
    assert_eq!(stores.computers.find(Some(acme), guid).await?, Some(expected.clone()));
    assert_eq!(stores.computers.page(Some(acme), &ComputerFilter::default(), None, 9).await?, [expected]);
    assert_eq!(stores.computers.find(Some(zenith), guid).await?, None);
    assert_eq!(stores.computers.find(None, ComputerGuid::from(numbered(1))).await?, None);
    Ok(())
}
