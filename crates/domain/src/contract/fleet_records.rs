//! [`crate::fleet::RecordRegistry`]. A change takes effect within seconds (decision A6).

use super::scene::{at_last, two_organizations};
use super::{Kept, Stores};
use crate::access::CredentialDigest;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::{
    Computer, Fleet, FleetConflict, FleetOrganization, FleetRecord, NewKey, RegistryError, Secret, User,
};
use crate::guid::ComputerGuid;
use crate::resource::{DeleteOutcome, NewResource, Preconditions};
use crate::testing::{
    ACME, ACME_HASH, ANN_KEY, BOB_KEY, ZENITH, a_fleet, a_resource, acme_records, at, numbered, resource_guid,
};
use futures_util::TryStreamExt;

const NEW_NAME: &str = "Acme Print & Sons";

/// The records of Acme Print that are identified by a GUID.
fn records() -> [FleetRecord; 4] {
    let own = acme_records();
    [
        FleetRecord::Computer(own.computer),
        FleetRecord::Device(own.device),
        FleetRecord::Queue(own.queue),
        FleetRecord::Job(own.job),
    ]
}

/// A renamed organization keeps its number, so everything that is stored with it.
pub async fn a_renamed_organization_keeps_all_that_it_has(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.records.rename_organization(ACME, NEW_NAME).await?;
    let renamed = async || Ok(holder(stores, ANN_KEY).await? == Some((acme, NEW_NAME.to_owned(), "Ann".to_owned())));
    assert!(at_last(renamed).await?, "the old name is still shown");
    assert!(stores.resources.find(acme, resource_guid(1)).await?.is_some());
    let Fleet { organizations } = stores.fleet_registry.export(Some(NEW_NAME.to_owned())).await?;
    assert_eq!(organizations[0].computers.len(), 1);
    let gone = stores.fleet_registry.export(Some(ACME.to_owned())).await;
    assert!(matches!(gone, Err(RegistryError::Conflict(FleetConflict::NotFound { .. }))), "{gone:?}");
    // To the name that it has: nothing to do.
    stores.records.rename_organization(NEW_NAME, NEW_NAME).await?;
    Ok(())
}

/// A renamed user keeps keys and computers.
pub async fn a_renamed_user_keeps_keys_and_computers(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.records.rename_user(ACME, "Ann", "Anna").await?;
    let renamed = async || Ok(holder(stores, ANN_KEY).await? == Some((acme, ACME.to_owned(), "Anna".to_owned())));
    assert!(at_last(renamed).await?, "the old name is still shown");
    let acme = organization(stores).await?;
    assert_eq!(acme.computers[0].user.as_deref(), Some("Anna"));
    let names: Vec<_> = acme.users.into_iter().map(|user| user.name).collect();
    assert_eq!(names, ["Anna", "Bob"]);
    stores.records.rename_user(ACME, "Anna", "Anna").await?;
    Ok(())
}

/// The error names both.
pub async fn a_name_that_is_taken_or_unknown_is_refused(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let taken = stores.records.rename_organization(ACME, ZENITH).await;
    let Err(RegistryError::Conflict(FleetConflict::NameTaken { record, other })) = taken else {
        panic!("{taken:?}");
    };
    assert_eq!((record, other), (format!("organization \"{ACME}\""), format!("organization \"{ZENITH}\"")));
    let taken = stores.records.rename_user(ACME, "Ann", "Bob").await;
    let Err(RegistryError::Conflict(FleetConflict::NameTaken { record, other })) = taken else {
        panic!("{taken:?}");
    };
    assert_eq!((record, other), (format!("user \"Ann\" of \"{ACME}\""), format!("user \"Bob\" of \"{ACME}\"")));
    for unknown in [
        stores.records.rename_organization("Acme", NEW_NAME).await,
        stores.records.rename_user(ACME, "Zoe", "Zara").await,
        stores.records.rename_user("Acme", "Ann", "Zara").await,
    ] {
        assert!(matches!(unknown, Err(RegistryError::Conflict(FleetConflict::NotFound { .. }))), "{unknown:?}");
    }
    assert_eq!(organization(stores).await?.users.len(), 2);
    Ok(())
}

/// Neither a retired user nor a retired computer authenticates, until it is brought back.
pub async fn what_is_retired_does_not_authenticate(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let computer = FleetRecord::Computer(acme_records().computer);
    let hash = CredentialDigest::of(ACME_HASH);
    for (retired, is_known) in [(Some(at(1)), false), (None, true)] {
        assert!(stores.records.set_retired(ACME, &FleetRecord::User("Ann".to_owned()), retired).await?);
        assert!(stores.records.set_retired(ACME, &computer, retired).await?);
        let is_so = async || {
            let found = stores.credentials.find_computer(hash).await?.is_some();
            Ok(holder(stores, ANN_KEY).await?.is_some() == is_known && found == is_known)
        };
        assert!(at_last(is_so).await?, "it takes no effect: {retired:?}");
        assert!(holder(stores, BOB_KEY).await?.is_some());
        assert!(!stores.records.set_retired(ACME, &computer, retired).await?, "it is so already");
    }
    Ok(())
}

/// A retired record is not found by requests.
pub async fn what_is_retired_is_no_target(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let own = acme_records();
    let known = async || {
        let directory = &stores.fleet_directory;
        Ok::<_, StoreError>([
            directory.find_computer(acme, own.computer).await?.is_some(),
            directory.find_device(acme, own.device).await?.is_some(),
            directory.find_queue(acme, own.queue).await?.is_some(),
            directory.find_job(acme, own.job).await?.is_some(),
        ])
    };
    let devices = async || stores.inspection.devices(acme, Vec::new()).try_collect::<Vec<_>>().await;
    for (retired, expected) in [(Some(at(1)), [false; 4]), (None, [true; 4])] {
        for record in records() {
            stores.records.set_retired(ACME, &record, retired).await?;
        }
        assert!(at_last(async || Ok(known().await? == expected)).await?, "it takes no effect: {retired:?}");
        assert_eq!(devices().await?.is_empty(), retired.is_some());
    }
    Ok(())
}

/// Decision O3: what is retired uses nothing.
pub async fn what_is_retired_holds_no_resource(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let own = acme_records();
    let used = [(own.used_by_queue, FleetRecord::Queue(own.queue)), (own.used_by_job, FleetRecord::Job(own.job))];
    for (number, (guid, record)) in (1..).zip(used) {
        stores.resources.store(acme, NewResource { guid, ..a_resource(number) }, at(0)).await?;
        let outcome = stores.resources.delete(acme, guid, Preconditions::None, at(0)).await?;
        assert!(matches!(outcome, DeleteOutcome::InUse { .. }), "{outcome:?}");
        stores.records.set_retired(ACME, &record, Some(at(1))).await?;
        assert_eq!(stores.resources.delete(acme, guid, Preconditions::None, at(0)).await?, DeleteOutcome::Deleted);
    }
    Ok(())
}

/// Export marks it, and a fleet file neither changes it nor gives it a key.
pub async fn what_is_retired_is_shown_and_left_alone_by_a_file(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let ann = FleetRecord::User("Ann".to_owned());
    let all: Vec<FleetRecord> = [ann].into_iter().chain(records()).collect();
    for record in &all {
        stores.records.set_retired(ACME, record, Some(at(1))).await?;
    }
    let before = organization(stores).await?;
    assert_eq!(before.retired, all.iter().cloned().collect());
    assert_eq!(before.computers[0].name.as_deref(), Some("RIP-01"));

    let mut fleet = a_fleet();
    for computer in &mut fleet.organizations[0].computers {
        *computer = Computer {
            name: Some("changed".to_owned()),
            hardware_hash: Some(Secret::new("another hash".to_owned())),
            ..computer.clone()
        };
    }
    fleet.organizations[0].devices[0].name = Some("changed".to_owned());
    let applied = stores.fleet_registry.apply(&fleet, &[], at(2)).await?;
    let expected: Vec<_> = all.iter().map(|record| (ACME.to_owned(), record.clone())).collect();
    assert_eq!(applied.retired, expected);
    assert_eq!(organization(stores).await?, before);
    stores.records.set_retired(ACME, &all[1], None).await?;
    let found = async || Ok(stores.credentials.find_computer(CredentialDigest::of(ACME_HASH)).await?.is_some());
    assert!(at_last(found).await?, "its hash is the former one");
    Ok(())
}

/// A key would be refused.
pub async fn a_retired_user_gets_no_key(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let max = User { name: "Max".to_owned(), mis_key: None };
    let acme = FleetOrganization { name: ACME.to_owned(), users: vec![max], ..FleetOrganization::default() };
    let fleet = Fleet { organizations: vec![acme] };
    stores.fleet_registry.apply(&fleet, &[], at(0)).await?;
    stores.records.set_retired(ACME, &FleetRecord::User("Max".to_owned()), Some(at(1))).await?;
    let key = NewKey {
        organization: ACME.to_owned(),
        user: "Max".to_owned(),
        mis_key: Secret::new("a-key-of-max-0123456789".to_owned()),
    };
    let refused = stores.fleet_registry.add_key(&key, at(2)).await;
    assert!(matches!(refused, Err(RegistryError::Conflict(FleetConflict::Retired { .. }))), "{refused:?}");
    let applied = stores.fleet_registry.apply(&fleet, &[key], at(2)).await?;
    assert_eq!(applied.issued, []);
    Ok(())
}

/// A used computer is registered anew, by whichever organization has it now (decision A1).
pub async fn the_hardware_hash_of_a_retired_computer_can_be_taken_over(stores: &Stores) -> Kept {
    let (_, zenith) = two_organizations(stores).await?;
    let (old, new) = (acme_records().computer, ComputerGuid::from(numbered(1)));
    stores.records.set_retired(ACME, &FleetRecord::Computer(old), Some(at(1))).await?;
    let computer = Computer {
        guid: new,
        name: None,
        hardware_hash: Some(Secret::new(ACME_HASH.to_owned())),
        serial_number: Some("SN-9".to_owned()),
        user: None,
    };
    let organization =
        FleetOrganization { name: ZENITH.to_owned(), computers: vec![computer], ..FleetOrganization::default() };
    let fleet = Fleet { organizations: vec![organization] };
    let expected = [(format!("computer {new}"), format!("computer {old} \"RIP-01\" of \"{ACME}\" (removed)"))];
    assert_eq!(stores.fleet_registry.preview(&fleet, &[], at(2)).await?.applied.hashes_taken_over, expected);
    assert_eq!(stores.fleet_registry.apply(&fleet, &[], at(2)).await?.hashes_taken_over, expected);
    let holder = async || {
        let found = stores.credentials.find_computer(CredentialDigest::of(ACME_HASH)).await?;
        Ok::<_, StoreError>(found.map(|found| (found.organization, found.computer.guid)))
    };
    assert!(at_last(async || Ok(holder().await? == Some((zenith, new)))).await?, "{:?}", holder().await?);
    // The old one has no hash when it is brought back; the new one keeps it.
    stores.records.set_retired(ACME, &FleetRecord::Computer(old), None).await?;
    let applied = stores.fleet_registry.apply(&fleet, &[], at(3)).await?;
    assert_eq!(applied.hashes_taken_over, []);
    assert_eq!(holder().await?, Some((zenith, new)));
    Ok(())
}

/// They take effect when the target is brought back. A relation of what is retired itself is not worth a word.
pub async fn relations_to_what_is_retired_are_reported(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let own = acme_records();
    let [computer, device, queue, job] = records();
    let ann = FleetRecord::User("Ann".to_owned());
    let reported =
        async || Ok::<_, RegistryError>(stores.fleet_registry.apply(&a_fleet(), &[], at(2)).await?.retired_targets);
    assert_eq!(reported().await?, []);
    for target in [&ann, &device] {
        stores.records.set_retired(ACME, target, Some(at(1))).await?;
    }
    let relation = |record: &FleetRecord, target: &FleetRecord| (ACME.to_owned(), record.clone(), target.clone());
    assert_eq!(reported().await?, [relation(&computer, &ann), relation(&queue, &device)]);
    stores.records.set_retired(ACME, &queue, Some(at(1))).await?;
    assert_eq!(reported().await?, [relation(&computer, &ann), relation(&job, &queue)]);
    let acme = organization(stores).await?;
    assert_eq!(acme.queues[0].device, Some(own.device), "it stays registered");
    Ok(())
}

/// Only records of the organization can be retired.
pub async fn only_own_records_are_retired(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    for record in records().into_iter().chain([FleetRecord::User("Ann".to_owned())]) {
        let refused = stores.records.set_retired(ZENITH, &record, Some(at(1))).await;
        let Err(RegistryError::Conflict(FleetConflict::NotFound { record: reported })) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(reported, format!("{record} of \"{ZENITH}\""));
    }
    assert!(organization(stores).await?.retired.is_empty());
    Ok(())
}

async fn organization(stores: &Stores) -> Result<FleetOrganization, RegistryError> {
    let Fleet { mut organizations } = stores.fleet_registry.export(Some(ACME.to_owned())).await?;
    Ok(organizations.remove(0))
}

async fn holder(stores: &Stores, key: &str) -> Result<Option<(OrganizationId, String, String)>, StoreError> {
    let found = stores.credentials.find_key_holder(CredentialDigest::of(key)).await?;
    Ok(found.map(|holder| (holder.organization, holder.organization_name, holder.user)))
}
