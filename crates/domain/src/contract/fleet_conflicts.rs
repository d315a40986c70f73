//! [`crate::fleet::FleetRegistry::apply`]: what can't be registered. Each conflict names the record
//! of the file, shows no credential, and nothing of the file is applied.

use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::access::CredentialDigest;
use crate::fleet::{
    Computer, Device, Fleet, FleetConflict, FleetOrganization, FleetRecord, Job, Queue, RegistryError, Secret, User,
};
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use crate::testing::{ACME, ACME_HASH, ANN_KEY, BOB_KEY, ZENITH, acme_records, at, numbered, zenith_records};

/// Decision O1.
pub async fn a_computer_of_another_organization_is_a_conflict(stores: &Stores) -> Kept {
    let guid = acme_records().computer;
    let named = FleetOrganization { computers: vec![computer(guid)], ..zenith() };
    assert!(matches!(refused(stores, named, &guid.to_string()).await?, FleetConflict::OtherOrganization { .. }));
    Ok(())
}

/// Decision O1.
pub async fn a_device_of_another_organization_is_a_conflict(stores: &Stores) -> Kept {
    let guid = acme_records().device;
    let named = FleetOrganization { devices: vec![Device { guid, name: None }], ..zenith() };
    assert!(matches!(refused(stores, named, &guid.to_string()).await?, FleetConflict::OtherOrganization { .. }));
    Ok(())
}

/// Decision O1.
pub async fn a_queue_of_another_organization_is_a_conflict(stores: &Stores) -> Kept {
    let guid = acme_records().queue;
    let named = FleetOrganization { queues: vec![queue(guid, None)], ..zenith() };
    assert!(matches!(refused(stores, named, &guid.to_string()).await?, FleetConflict::OtherOrganization { .. }));
    Ok(())
}

/// Decision O1.
pub async fn a_job_of_another_organization_is_a_conflict(stores: &Stores) -> Kept {
    let guid = acme_records().job;
    let named = FleetOrganization { jobs: vec![job(guid, None)], ..zenith() };
    assert!(matches!(refused(stores, named, &guid.to_string()).await?, FleetConflict::OtherOrganization { .. }));
    Ok(())
}

/// The same where two organizations of one file name it.
pub async fn one_guid_in_two_organizations_of_a_file_is_a_conflict(stores: &Stores) -> Kept {
    let guid = DeviceGuid::from(numbered(1));
    let named = |name: &str| FleetOrganization {
        name: name.to_owned(),
        devices: vec![Device { guid, name: None }],
        ..FleetOrganization::default()
    };
    let fleet = Fleet { organizations: vec![named("One"), named("Two")] };
    let conflict = conflict(stores, &fleet).await?;
    assert!(matches!(&conflict, FleetConflict::OtherOrganization { record, .. } if record.contains(&guid.to_string())));
    assert!(conflict.to_string().contains(&format!("\"{guid}\" of \"One\"")), "{conflict}");
    assert_eq!(stores.fleet_registry.export(None).await?, Fleet::default());
    Ok(())
}

/// A hardware hash identifies one computer (decision A1).
pub async fn a_hardware_hash_of_another_computer_is_a_conflict(stores: &Stores) -> Kept {
    let guid = ComputerGuid::from(numbered(1));
    let hardware_hash = Some(Secret::new(ACME_HASH.to_owned()));
    for organization in [zenith(), FleetOrganization { name: ACME.to_owned(), ..zenith() }] {
        let computers = vec![Computer { hardware_hash: hardware_hash.clone(), ..computer(guid) }];
        let conflict = refused(stores, FleetOrganization { computers, ..organization }, &guid.to_string()).await?;
        assert!(matches!(conflict, FleetConflict::CredentialTaken { .. }), "{conflict:?}");
        assert!(conflict.to_string().contains("\"RIP-01\" of \"Acme Print\""), "{conflict}");
        assert!(!format!("{conflict} {conflict:?}").contains(ACME_HASH), "{conflict}");
    }
    Ok(())
}

/// A key identifies one user (decision A1).
pub async fn a_key_of_another_user_is_a_conflict(stores: &Stores) -> Kept {
    let new = |organization: &str, user: &str| FleetOrganization {
        name: organization.to_owned(),
        users: vec![User { name: user.to_owned(), mis_key: Some(Secret::new(ANN_KEY.to_owned())) }],
        ..FleetOrganization::default()
    };
    // Zoe and Bob have keys of their own already: the file is wrong all the same.
    for (organization, user) in [(ZENITH, "Max"), (ZENITH, "Zoe"), (ZENITH, "Ann"), (ACME, "Max"), (ACME, "Bob")] {
        let conflict = refused(stores, new(organization, user), user).await?;
        assert!(matches!(conflict, FleetConflict::CredentialTaken { .. }), "{conflict:?}");
        assert!(conflict.to_string().contains("user \"Ann\" of \"Acme Print\""), "{conflict}");
        assert!(!format!("{conflict} {conflict:?}").contains(ANN_KEY), "{conflict}");
    }
    Ok(())
}

/// A key that was revoked is still that of the user who had it.
pub async fn a_revoked_key_of_another_user_is_a_conflict(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.revoke_keys(ACME, "Bob", at(1)).await?;
    let users = vec![User { name: "Max".to_owned(), mis_key: Some(Secret::new(BOB_KEY.to_owned())) }];
    let fleet = Fleet { organizations: vec![FleetOrganization { users, ..zenith() }] };
    let conflict = conflict(stores, &fleet).await?;
    assert!(matches!(conflict, FleetConflict::CredentialTaken { .. }), "{conflict:?}");
    Ok(())
}

/// Two users of one file can't have one key.
pub async fn one_key_for_two_users_of_a_file_is_a_conflict(stores: &Stores) -> Kept {
    let user = |name: &str| User { name: name.to_owned(), mis_key: Some(Secret::new(ANN_KEY.to_owned())) };
    let fleet = Fleet { organizations: vec![FleetOrganization { users: vec![user("Max"), user("Mia")], ..zenith() }] };
    let conflict = conflict(stores, &fleet).await?;
    assert!(matches!(&conflict, FleetConflict::CredentialTaken { record, .. } if record.contains("Mia")), "{conflict}");
    assert_eq!(stores.credentials.find_key_holder(CredentialDigest::of(ANN_KEY)).await?, None);
    assert_eq!(stores.fleet_registry.export(None).await?, Fleet::default());
    Ok(())
}

/// A relation has to lead to a record of the same organization.
pub async fn a_relation_to_an_unknown_record_is_a_conflict(stores: &Stores) -> Kept {
    let guid = numbered(1);
    let with_user = |user: &str| Computer { user: Some(user.to_owned()), ..computer(guid.into()) };
    let relations = [
        (FleetOrganization { computers: vec![with_user("Nobody")], ..zenith() }, "Nobody".to_owned()),
        (FleetOrganization { computers: vec![with_user("Ann")], ..zenith() }, "Ann".to_owned()),
        (
            FleetOrganization { queues: vec![queue(guid.into(), Some(numbered(2).into()))], ..zenith() },
            numbered(2).to_string(),
        ),
        (
            FleetOrganization { queues: vec![queue(guid.into(), Some(acme_records().device))], ..zenith() },
            acme_records().device.to_string(),
        ),
        (
            FleetOrganization { jobs: vec![job(guid.into(), Some(numbered(2).into()))], ..zenith() },
            numbered(2).to_string(),
        ),
        (
            FleetOrganization { jobs: vec![job(guid.into(), Some(acme_records().queue))], ..zenith() },
            acme_records().queue.to_string(),
        ),
    ];
    for (organization, unknown) in relations {
        let conflict = refused(stores, organization, &guid.to_string()).await?;
        assert!(
            matches!(&conflict, FleetConflict::UnknownTarget { target, .. } if target.contains(&unknown)),
            "{conflict}"
        );
    }
    Ok(())
}

/// Relations lead to what the file names as well as to what was registered before.
pub async fn relations_within_a_file_are_no_conflict(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let user = User { name: "Max".to_owned(), mis_key: None };
    let (device, first, second) = (numbered(1), numbered(2), numbered(3));
    let organization = FleetOrganization {
        users: vec![user],
        computers: vec![Computer { user: Some("Max".to_owned()), ..computer(numbered(5).into()) }],
        devices: vec![Device { guid: device.into(), name: None }],
        queues: vec![queue(first.into(), Some(device.into())), queue(second.into(), Some(zenith_records().device))],
        jobs: vec![job(numbered(4).into(), Some(second.into())), job(numbered(5).into(), Some(zenith_records().queue))],
        ..zenith()
    };
    let fleet = Fleet { organizations: vec![organization] };
    stores.fleet_registry.apply(&fleet, &[], at(0)).await?;
    let exported = stores.fleet_registry.export(Some(ZENITH.to_owned())).await?;
    let related = |guid| exported.organizations[0].queues.iter().find(|queue| queue.guid == guid)?.device;
    assert_eq!(related(QueueGuid::from(first)), Some(device.into()));
    assert_eq!(related(QueueGuid::from(second)), Some(zenith_records().device));
    Ok(())
}

/// So that the operator looks for it among the removed ones.
pub async fn a_conflict_with_what_is_retired_says_so(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let own = acme_records();
    let ann = FleetRecord::User("Ann".to_owned());
    let retired = [FleetRecord::Computer(own.computer), FleetRecord::Queue(own.queue), ann];
    for record in &retired {
        stores.records.set_retired(ACME, record, Some(at(1))).await?;
    }
    let max = User { name: "Max".to_owned(), mis_key: Some(Secret::new(ANN_KEY.to_owned())) };
    for (organization, other) in [
        (FleetOrganization { computers: vec![computer(own.computer)], ..zenith() }, "\"RIP-01\" of \"Acme Print\""),
        (FleetOrganization { queues: vec![queue(own.queue, None)], ..zenith() }, "\"Banner\" of \"Acme Print\""),
        (FleetOrganization { users: vec![max], ..zenith() }, "user \"Ann\" of \"Acme Print\""),
    ] {
        let conflict = conflict(stores, &Fleet { organizations: vec![organization] }).await?.to_string();
        assert!(conflict.contains(&format!("{other} (removed)")), "{conflict}");
    }
    let taken = stores.records.rename_user(ACME, "Bob", "Ann").await;
    assert!(taken.is_err_and(|taken| taken.to_string().contains("user \"Ann\" of \"Acme Print\" (removed)")));
    Ok(())
}

/// Applies `organization` to the test fleet, after one that is without fault, and checks that
/// nothing of the file was applied. The conflict has to name the record.
async fn refused(
    stores: &Stores,
    organization: FleetOrganization,
    record: &str,
) -> Result<FleetConflict, Box<dyn std::error::Error + Send + Sync>> {
    two_organizations(stores).await?;
    let before = stores.fleet_registry.export(None).await?;
    let key = "a-key-of-somebody-new";
    let valid = FleetOrganization {
        name: "Valid".to_owned(),
        users: vec![User { name: "Valid".to_owned(), mis_key: Some(Secret::new(key.to_owned())) }],
        devices: vec![Device { guid: numbered(0xffff).into(), name: None }],
        ..FleetOrganization::default()
    };
    let fleet = Fleet { organizations: vec![valid, organization] };
    let conflict = conflict(stores, &fleet).await?;
    assert!(conflict.to_string().contains(record), "{conflict} doesn't name {record}");
    assert_eq!(stores.fleet_registry.export(None).await?, before);
    assert_eq!(stores.credentials.find_key_holder(CredentialDigest::of(key)).await?, None);
    Ok(conflict)
}

async fn conflict(stores: &Stores, fleet: &Fleet) -> Result<FleetConflict, Box<dyn std::error::Error + Send + Sync>> {
    match stores.fleet_registry.apply(fleet, &[], at(0)).await {
        Err(RegistryError::Conflict(conflict)) => Ok(conflict),
        Err(other) => Err(other.into()),
        Ok(applied) => panic!("the conflict was not seen: {applied:?}"),
    }
}

fn zenith() -> FleetOrganization {
    FleetOrganization { name: ZENITH.to_owned(), ..FleetOrganization::default() }
}

fn computer(guid: ComputerGuid) -> Computer {
    Computer { guid, name: None, hardware_hash: None, serial_number: None, user: None }
}

fn queue(guid: QueueGuid, device: Option<DeviceGuid>) -> Queue {
    Queue { guid, name: None, device, uses: None }
}

fn job(guid: JobGuid, queue: Option<QueueGuid>) -> Job {
    Job { guid, name: None, queue, uses: None }
}
