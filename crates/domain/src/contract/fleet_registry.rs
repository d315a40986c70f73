//! [`crate::fleet::FleetRegistry`]: what applying a fleet registers and what export gives back.
//! Conflicts and keys have files of their own.

use super::scene::{TEXTS, register, two_organizations};
use super::{Kept, Stores};
use crate::fleet::{
    Applied, Changes, Computer, Device, Fleet, FleetConflict, FleetOrganization, Job, NewKey, Queue, RegistryError,
    Secret, User,
};
use crate::guid::DeviceGuid;
use crate::testing::{ACME, Records, ZENITH, a_fleet, acme_records, at, numbered, resource_guid};
use futures_util::future::try_join_all;

/// Decision O2; the form is that of a file, without credentials.
pub async fn what_was_applied_is_exported_without_credentials(stores: &Stores) -> Kept {
    assert_eq!(stores.fleet_registry.export(None).await?, Fleet::default());
    let applied = stores.fleet_registry.apply(&a_fleet(), &[], at(0)).await?;
    assert_eq!(applied, Applied::default());
    assert_eq!(stores.fleet_registry.export(None).await?, exported());
    Ok(())
}

/// Decision O2.
pub async fn applying_a_file_again_changes_nothing(stores: &Stores) -> Kept {
    stores.fleet_registry.apply(&a_fleet(), &[], at(0)).await?;
    let applied = stores.fleet_registry.apply(&a_fleet(), &[], at(1)).await?;
    assert_eq!(applied, Applied::default());
    assert_eq!(stores.fleet_registry.export(None).await?, exported());
    Ok(())
}

/// An export can be applied: it changes nothing, credentials and serial numbers included.
pub async fn applying_an_export_changes_nothing(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let exported = stores.fleet_registry.export(None).await?;
    let applied = stores.fleet_registry.apply(&exported, &[], at(1)).await?;
    assert_eq!(applied, Applied::default());
    assert_eq!(stores.fleet_registry.export(None).await?, exported);
    two_organizations(stores).await?;
    Ok(())
}

/// Everything is sorted by name, then GUID; what a queue or job uses by GUID.
pub async fn an_export_is_sorted(stores: &Stores) -> Kept {
    let device = |number: u128, name: &str| Device { guid: numbered(number).into(), name: Some(name.to_owned()) };
    let user = |name: &str| User { name: name.to_owned(), mis_key: None };
    let resources = |numbers: &[u128]| Some(numbers.iter().copied().map(resource_guid).collect());
    let organization = |name: &str| FleetOrganization { name: name.to_owned(), ..FleetOrganization::default() };
    let filled = FleetOrganization {
        users: vec![user("Zoe"), user("Ann"), user("Max")],
        devices: vec![device(3, "B"), device(0xff << 120, "A"), device(0x7f << 120, "A"), device(1, "C")],
        queues: vec![Queue {
            guid: numbered(1).into(),
            name: Some("Q".to_owned()),
            device: None,
            uses: resources(&[0xff << 120, 2, 0x7f << 120, 2]),
        }],
        ..organization("B")
    };
    let fleet = Fleet { organizations: vec![organization("C"), filled, organization("A")] };
    stores.fleet_registry.apply(&fleet, &[], at(0)).await?;
    let exported = stores.fleet_registry.export(None).await?;
    let names: Vec<&str> = exported.organizations.iter().map(|organization| organization.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    let filled = &exported.organizations[1];
    assert_eq!(filled.users, [user("Ann"), user("Max"), user("Zoe")]);
    assert_eq!(filled.devices, [device(0x7f << 120, "A"), device(0xff << 120, "A"), device(3, "B"), device(1, "C")]);
    assert_eq!(filled.queues[0].uses, resources(&[2, 0x7f << 120, 0xff << 120]));
    Ok(())
}

/// One organization is exported alone; it has to exist.
pub async fn one_organization_is_exported_alone(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let alone = stores.fleet_registry.export(Some(ZENITH.to_owned())).await?;
    assert_eq!(alone.organizations, exported().organizations[1..]);
    let outcome = stores.fleet_registry.export(Some("Nobody".to_owned())).await;
    let Err(RegistryError::Conflict(FleetConflict::NotFound { record })) = outcome else {
        panic!("an unknown organization was exported: {outcome:?}");
    };
    assert!(record.contains("Nobody"), "{record}");
    Ok(())
}

/// Decision O2: names and relations are updated.
pub async fn names_and_relations_are_updated(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let Records { computer, device, queue, job, .. } = acme_records();
    let text = |text: &str| Some(text.to_owned());
    let other = DeviceGuid::from(numbered(77));
    let changed = FleetOrganization {
        name: ACME.to_owned(),
        publisher: Some(true),
        computers: vec![Computer {
            guid: computer,
            name: text("RIP-09"),
            hardware_hash: None,
            serial_number: text("SN-9"),
            user: text("Bob"),
        }],
        devices: vec![Device { guid: device, name: text("Latex 9") }, Device { guid: other, name: text("New") }],
        queues: vec![Queue { guid: queue, name: text("Banner 9"), device: Some(other), uses: Some(vec![]) }],
        jobs: vec![Job { guid: job, name: text("Order 9"), queue: Some(queue), uses: Some(vec![resource_guid(9)]) }],
        ..FleetOrganization::default()
    };
    register(stores, changed.clone()).await?;
    let users = exported().organizations[0].users.clone();
    let found = stores.fleet_registry.export(Some(ACME.to_owned())).await?;
    assert_eq!(found.organizations, [FleetOrganization { users, ..changed }]);
    Ok(())
}

/// Decision O2: nothing is removed, and what a record doesn't give stays as it is.
pub async fn what_a_file_leaves_out_stays_as_it_is(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let named = |name: &str| FleetOrganization { name: name.to_owned(), ..FleetOrganization::default() };
    let Records { computer, device, queue, job, .. } = acme_records();
    let bare = FleetOrganization {
        users: vec![User { name: "Ann".to_owned(), mis_key: None }],
        computers: vec![Computer { guid: computer, name: None, hardware_hash: None, serial_number: None, user: None }],
        devices: vec![Device { guid: device, name: None }],
        queues: vec![Queue { guid: queue, name: None, device: None, uses: None }],
        jobs: vec![Job { guid: job, name: None, queue: None, uses: None }],
        ..named(ACME)
    };
    let fleet = Fleet { organizations: vec![bare, named(ZENITH)] };
    assert_eq!(stores.fleet_registry.apply(&fleet, &[], at(1)).await?, Applied::default());
    assert_eq!(stores.fleet_registry.export(None).await?, exported());
    // The credentials are still the same ones, too.
    two_organizations(stores).await?;
    Ok(())
}

/// Decision T15: at first no organization is a publisher.
pub async fn an_organization_is_no_publisher_at_first(stores: &Stores) -> Kept {
    register(stores, FleetOrganization { name: "New".to_owned(), ..FleetOrganization::default() }).await?;
    assert_eq!(stores.fleet_registry.export(None).await?.organizations[0].publisher, Some(false));
    Ok(())
}

/// Decision R9: names are kept byte for byte.
pub async fn names_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    let organization = |name: &str| FleetOrganization {
        name: name.to_owned(),
        users: vec![User { name: name.to_owned(), mis_key: None }],
        ..FleetOrganization::default()
    };
    let fleet = Fleet { organizations: TEXTS.iter().map(|text| organization(text)).collect() };
    stores.fleet_registry.apply(&fleet, &[], at(0)).await?;
    for text in TEXTS {
        let found = stores.fleet_registry.export(Some((*text).to_owned())).await?;
        let expected = FleetOrganization { publisher: Some(false), ..organization(text) };
        assert_eq!(found.organizations, [expected]);
    }
    Ok(())
}

/// A fleet of thousands of records is applied in one step, and again.
pub async fn a_large_fleet_is_applied_in_one_step(stores: &Stores) -> Kept {
    let records = 0..3_000_u32;
    let name = |number: u32| format!("{number:05}");
    let guid = |number: u32| numbered(number.into());
    let large = FleetOrganization {
        name: "Large".to_owned(),
        publisher: Some(false),
        users: records.clone().map(|number| User { name: name(number), mis_key: None }).collect(),
        computers: Vec::new(),
        devices: records.clone().map(|number| Device { guid: guid(number).into(), name: Some(name(number)) }).collect(),
        queues: records
            .clone()
            .map(|number| Queue {
                guid: guid(number).into(),
                name: Some(name(number)),
                device: Some(guid(2_999 - number).into()),
                uses: Some(vec![guid(number).into(), guid(number + 1).into()]),
            })
            .collect(),
        jobs: Vec::new(),
        ..FleetOrganization::default()
    };
    let fleet = Fleet { organizations: vec![large] };
    for second in 0..2 {
        stores.fleet_registry.apply(&fleet, &[], at(second)).await?;
        assert!(stores.fleet_registry.export(None).await? == fleet, "the large fleet was changed");
    }
    Ok(())
}

/// What a preview tells is what applying does; until then it isn't done.
pub async fn a_preview_tells_what_applying_would_do_and_does_nothing(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let before = stores.fleet_registry.export(None).await?;
    let own = acme_records();
    let named = |name: &str| Some(name.to_owned());
    let computer = Computer {
        guid: own.computer,
        name: None,
        hardware_hash: Some(Secret::new("another hash".to_owned())),
        serial_number: named("SN-1000"),
        user: None,
    };
    let acme = FleetOrganization {
        name: ACME.to_owned(),
        users: vec![User { name: "Ann".to_owned(), mis_key: None }, User { name: "Max".to_owned(), mis_key: None }],
        computers: vec![computer],
        devices: vec![Device { guid: own.device, name: named("Latex 2") }],
        queues: vec![Queue { guid: own.queue, name: None, device: None, uses: None }],
        ..FleetOrganization::default()
    };
    let fleet = Fleet { organizations: vec![acme] };
    let key = NewKey {
        organization: ACME.to_owned(),
        user: "Max".to_owned(),
        mis_key: Secret::new("a-key-of-max-0123456789".to_owned()),
    };
    let keys = [key.clone()];
    let preview = stores.fleet_registry.preview(&fleet, &keys, at(1)).await?;
    assert_eq!(preview.applied.issued, keys);
    let output = preview.changes(&fleet);
    assert_eq!(output.added, [format!("user \"Max\" of \"{ACME}\"")]);
    let changed: Vec<String> = output.changed.iter().map(ToString::to_string).collect();
    let expected = [
        format!("computer {} of \"{ACME}\": another hardware_hash", own.computer),
        format!("device {} of \"{ACME}\": name \"Latex 1\" to \"Latex 2\"", own.device),
    ];
    assert_eq!(changed, expected);
    assert_eq!(output.unchanged, 3, "the organization, Ann and the queue");
    let others = [
        format!("user \"Bob\" of \"{ACME}\""),
        format!("job {} \"Order 17\" of \"{ACME}\"", own.job),
        format!("organization \"{ZENITH}\""),
    ];
    assert_eq!(output.not_in_file, others);
    assert_eq!(stores.fleet_registry.export(None).await?, before);
    assert_eq!(stores.credentials.find_key_holder(key.digest()).await?, None);

    stores.fleet_registry.apply(&fleet, &keys, at(1)).await?;
    let Fleet { organizations } = stores.fleet_registry.export(Some(ACME.to_owned())).await?;
    assert_eq!(preview.after.organizations, organizations);
    let output = stores.fleet_registry.preview(&fleet, &[], at(2)).await?.changes(&fleet);
    let not_in_file = others.to_vec();
    assert_eq!(output, Changes { unchanged: 6, not_in_file, ..Changes::default() });
    Ok(())
}

/// Unregistered records are new, and what would be refused is refused.
pub async fn a_preview_of_a_new_fleet_adds_all_of_it_and_conflicts_are_seen(stores: &Stores) -> Kept {
    let fleet = a_fleet();
    let changes = stores.fleet_registry.preview(&fleet, &[], at(0)).await?.changes(&fleet);
    assert_eq!((changes.changed, changes.unchanged), (Vec::new(), 0));
    assert!(changes.added.contains(&format!("organization \"{ZENITH}\"")), "{:?}", changes.added);
    assert_eq!(stores.fleet_registry.export(None).await?, Fleet::default());
    stores.fleet_registry.apply(&fleet, &[], at(0)).await?;
    let devices = vec![Device { guid: acme_records().device, name: None }];
    let taken = FleetOrganization { name: ZENITH.to_owned(), devices, ..FleetOrganization::default() };
    let refused = stores.fleet_registry.preview(&Fleet { organizations: vec![taken] }, &[], at(1)).await;
    assert!(matches!(refused, Err(RegistryError::Conflict(FleetConflict::OtherOrganization { .. }))), "{refused:?}");
    Ok(())
}

/// Several server processes may start with the same file at once.
pub async fn one_file_applied_many_times_at_once_is_applied(stores: &Stores) -> Kept {
    let fleet = a_fleet();
    try_join_all((0..10).map(|_| stores.fleet_registry.apply(&fleet, &[], at(0)))).await?;
    assert_eq!(stores.fleet_registry.export(None).await?, exported());
    two_organizations(stores).await?;
    Ok(())
}

/// The test fleet as export gives it.
fn exported() -> Fleet {
    let mut fleet = a_fleet();
    for organization in &mut fleet.organizations {
        organization.publisher = Some(organization.publisher.unwrap_or(false));
        organization.users.iter_mut().for_each(|user| user.mis_key = None);
        organization.computers.iter_mut().for_each(|computer| computer.hardware_hash = None);
    }
    fleet
}
