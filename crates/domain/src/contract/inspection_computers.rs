//! [`crate::inspection::InspectionRepository`]: computers.

use super::scene::{TEXTS, organizations, register, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::crash_report::NewCrashReport;
use crate::error::StoreError;
use crate::fleet::{Computer, FleetOrganization, FleetRecord};
use crate::guid::ComputerGuid;
use crate::inspection::{InspectedComputer, LastSeen};
use crate::log_entry::NewLogEntry;
use crate::testing::{ACME, ACME_SERIAL, a_crash_report, a_log_entry, acme_records, at, numbered, zenith_records};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;

/// A computer that never sent anything is listed too.
pub async fn computers_are_listed_with_user_and_serial_number(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let expected = InspectedComputer {
        guid: acme_records().computer,
        name: "RIP-01".to_owned(),
        serial_number: Some(ACME_SERIAL.to_owned()),
        user: Some("Ann".to_owned()),
        is_retired: false,
        last_request: None,
        last_log_entry: None,
        last_crash_report: None,
    };
    assert_eq!(expected.last_seen(), None);
    assert_eq!(computers(stores, acme).await?, [expected]);
    let computer = FleetRecord::Computer(acme_records().computer);
    stores.records.set_retired(ACME, &computer, Some(at(1))).await?;
    assert!(computers(stores, acme).await?[0].is_retired);
    Ok(())
}

/// Names are compared by the numbers of their characters; of equal ones the lower GUID comes first.
pub async fn computers_are_sorted_by_name_then_guid(stores: &Stores) -> Kept {
    let names = ["b", "a", "B", "ä", "a"].into_iter().chain(TEXTS.iter().copied());
    let mut registered: Vec<(String, ComputerGuid)> =
        (0..).zip(names).map(|(number, name)| (name.to_owned(), ComputerGuid::from(numbered(99 - number)))).collect();
    let acme = register_computers(stores, registered.clone()).await?;
    registered.sort();
    let listed = computers(stores, acme).await?.into_iter().map(|computer| (computer.name, computer.guid));
    assert_eq!(listed.collect::<Vec<_>>(), registered);
    Ok(())
}

/// The application version is that of the newest record.
pub async fn a_computer_is_last_seen_at_its_newest_entry_and_report(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let (computer, other) = (acme_records().computer, ComputerGuid::from(numbered(77)));
    let entry = |second, version: &str, computer_guid| NewLogEntry {
        received: at(second),
        application_version: version.to_owned(),
        computer_guid,
        ..a_log_entry("entry")
    };
    for entry in [entry(5, "2", computer), entry(3, "1", computer), entry(9, "3", other)] {
        stores.logs.add(acme, entry).await?;
    }
    stores.logs.add(zenith, entry(10, "4", computer)).await?;
    let seen = |second, version: &str| LastSeen { at: at(second), application_version: version.to_owned() };
    let listed = computers(stores, acme).await?.remove(0);
    assert_eq!((&listed.last_log_entry, &listed.last_crash_report), (&Some(seen(5, "2")), &None));
    assert_eq!(listed.last_seen(), listed.last_log_entry);

    let report = |number, second, version: &str, computer| NewCrashReport {
        received: at(second),
        application_version: version.to_owned(),
        computer: Some(computer),
        ..a_crash_report(number)
    };
    for report in [report(1, 7, "6", computer), report(2, 6, "5", computer), report(3, 12, "7", other)] {
        stores.crash_reports.add(acme, report).await?;
    }
    stores.crash_reports.add(zenith, report(4, 13, "8", computer)).await?;
    let listed = computers(stores, acme).await?.remove(0);
    assert_eq!((&listed.last_log_entry, &listed.last_crash_report), (&Some(seen(5, "2")), &Some(seen(7, "6"))));
    assert_eq!(listed.last_seen(), listed.last_crash_report);
    Ok(())
}

/// Interface 5, rule 3.
pub async fn only_the_computers_of_the_organization_are_listed(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let guids = async |organization| -> Result<Vec<ComputerGuid>, StoreError> {
        Ok(computers(stores, organization).await?.into_iter().map(|computer| computer.guid).collect())
    };
    assert_eq!(guids(acme).await?, [acme_records().computer]);
    assert_eq!(guids(zenith).await?, [zenith_records().computer]);
    assert_eq!(guids(OrganizationId(acme.0 + zenith.0 + 1)).await?, []);
    Ok(())
}

/// Pages follow each other without a gap and without a repetition.
pub async fn a_list_of_thousands_of_computers_is_whole_and_in_order(stores: &Stores) -> Kept {
    let guid = |number: u128| ComputerGuid::from(numbered(number));
    let name = |number: u128| format!("RIP {}", number % 7);
    let acme = register_computers(stores, (0..3_000).map(|number| (name(number), guid(number))).collect()).await?;
    let entry = |number| NewLogEntry { computer_guid: guid(number), computer: name(number), ..a_log_entry("entry") };
    try_join_all((0..3_000).map(|number| stores.logs.add(acme, entry(number)))).await?;
    let listed = computers(stores, acme).await?;
    assert_eq!(listed.len(), 3_000);
    assert!(listed.is_sorted_by(|one, other| (&one.name, one.guid) < (&other.name, other.guid)));
    assert!(listed.iter().all(|computer| computer.last_log_entry.is_some()));
    Ok(())
}

async fn computers(stores: &Stores, organization: OrganizationId) -> Result<Vec<InspectedComputer>, StoreError> {
    stores.inspection.computers(organization).try_collect().await
}

/// Computers of one organization, whose number is answered.
async fn register_computers(
    stores: &Stores,
    named: Vec<(String, ComputerGuid)>,
) -> Result<OrganizationId, Box<dyn std::error::Error + Send + Sync>> {
    let ids = organizations(stores, &[false]).await?;
    let computer =
        |(name, guid)| Computer { guid, name: Some(name), hardware_hash: None, serial_number: None, user: None };
    let computers = named.into_iter().map(computer).collect();
    let organization =
        FleetOrganization { name: "Organization 0".to_owned(), computers, ..FleetOrganization::default() };
    register(stores, organization).await?;
    Ok(ids[0])
}
