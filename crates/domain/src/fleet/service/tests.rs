//! What the operator does to the fleet, over fakes.

use super::FleetService;
use crate::error::StoreError;
use crate::fleet::{
    Applied, Fleet, FleetConflict, FleetOrganization, KeyRevocation, MockFleetRegistry, NewKey, RegistryError, Secret,
    User,
};
use crate::testing::{CountingIds, FixedClock, at};
use std::sync::Arc;

fn service(registry: MockFleetRegistry) -> FleetService {
    FleetService::new(Arc::new(registry), Arc::new(FixedClock::new(at(5))), Arc::new(CountingIds::default()))
}

fn a_user(name: &str, key: Option<&str>) -> User {
    User { name: name.to_owned(), mis_key: key.map(|key| Secret::new(key.to_owned())) }
}

fn a_fleet() -> Fleet {
    let organization = |name: &str, users| FleetOrganization { name: name.to_owned(), users, ..Default::default() };
    Fleet {
        organizations: vec![
            organization("Acme Print", vec![a_user("Ann", None), a_user("Bob", Some("bob-key-0123456789"))]),
            organization("Zenith Media", vec![a_user("Ann", None)]),
        ],
    }
}

fn names(keys: &[NewKey]) -> Vec<(&str, &str)> {
    keys.iter().map(|key| (key.organization.as_str(), key.user.as_str())).collect()
}

#[tokio::test]
async fn a_key_is_offered_for_each_user_who_brings_none() {
    // Decisions A1, A6, O2: whether it is needed is the registry's to say, in the same step.
    let mut registry = MockFleetRegistry::new();
    registry
        .expect_apply()
        .times(1)
        .withf(|fleet, new_keys, now| {
            let offered = [("Acme Print", "Ann"), ("Zenith Media", "Ann")];
            *fleet == a_fleet() && names(new_keys) == offered && *now == at(5)
        })
        .returning(|_, new_keys, _| {
            let left_out = vec![("Acme Print".to_owned(), "Bob".to_owned())];
            Ok(Applied { issued: vec![new_keys[1].clone()], keys_left_out: left_out, ..Applied::default() })
        });
    let applied = service(registry).apply(&a_fleet()).await.unwrap();
    assert_eq!(names(&applied.issued), [("Zenith Media", "Ann")], "only what was registered is output");
    assert_eq!(applied.keys_left_out, [("Acme Print".to_owned(), "Bob".to_owned())]);
}

#[tokio::test]
async fn no_two_keys_are_alike() {
    // Decision A1.
    let mut registry = MockFleetRegistry::new();
    registry
        .expect_apply()
        .withf(|_, keys, _| {
            let hexadecimal = |key: &NewKey| key.mis_key.reveal().bytes().all(|digit| digit.is_ascii_hexdigit());
            keys[0].mis_key != keys[1].mis_key
                && keys.iter().all(|key| key.mis_key.reveal().len() == 64 && hexadecimal(key))
        })
        .returning(|_, _, _| Ok(Applied::default()));
    registry.expect_add_key().returning(|_, _| Ok(()));
    let service = service(registry);
    service.apply(&a_fleet()).await.unwrap();
    let first = service.issue_key("Acme Print", "Ann").await.unwrap();
    let second = service.issue_key("Acme Print", "Ann").await.unwrap();
    assert_ne!(first.mis_key, second.mis_key);
}

#[tokio::test]
async fn a_conflict_is_told_as_it_is() {
    // Operation, "Fleet file": an error that names the record.
    let mut registry = MockFleetRegistry::new();
    let conflict = || FleetConflict::OtherOrganization {
        record: "computer 6f96".to_owned(),
        other: "\"RIP\" of \"Zenith\"".to_owned(),
    };
    registry.expect_apply().times(1).returning(move |_, _, _| Err(conflict().into()));
    let Err(RegistryError::Conflict(output)) = service(registry).apply(&a_fleet()).await else {
        panic!("a conflict was not output");
    };
    assert_eq!(output, conflict());
}

#[tokio::test]
async fn an_issued_key_is_told_once_it_is_registered() {
    // Decisions A1, A6.
    let mut registry = MockFleetRegistry::new();
    registry
        .expect_add_key()
        .times(1)
        .withf(|key, now| names(std::slice::from_ref(key)) == [("Acme Print", "Ann")] && *now == at(5))
        .returning(|_, _| Ok(()));
    let key = service(registry).issue_key("Acme Print", "Ann").await.unwrap();
    assert_eq!((key.organization.as_str(), key.user.as_str()), ("Acme Print", "Ann"));
    assert!(!format!("{key:?}").contains(key.mis_key.reveal()), "a log shows no key");

    let mut registry = MockFleetRegistry::new();
    let missing = || FleetConflict::NotFound { record: "user \"Eve\" of \"Acme Print\"".to_owned() };
    registry.expect_add_key().times(1).returning(move |_, _| Err(missing().into()));
    let outcome = service(registry).issue_key("Acme Print", "Eve").await;
    assert!(matches!(outcome, Err(RegistryError::Conflict(output)) if output == missing()));
}

#[tokio::test]
async fn all_keys_of_a_user_are_revoked_now() {
    // Decision A6.
    let mut registry = MockFleetRegistry::new();
    registry
        .expect_revoke_keys()
        .times(1)
        .withf(|organization, user, now| (organization, user, *now) == ("Acme Print", "Ann", at(5)))
        .returning(|_, _, _| Ok(KeyRevocation { revoked: 2 }));
    assert_eq!(service(registry).revoke_keys("Acme Print", "Ann").await.unwrap(), KeyRevocation { revoked: 2 });
}

#[tokio::test]
async fn an_export_is_that_of_the_registry() {
    // Operation, "Command line".
    for organization in [None, Some("Acme Print")] {
        let mut registry = MockFleetRegistry::new();
        registry
            .expect_export()
            .times(1)
            .withf(move |asked| asked.as_deref() == organization)
            .returning(|_| Ok(a_fleet()));
        assert_eq!(service(registry).export(organization).await.unwrap(), a_fleet());
    }
    let mut registry = MockFleetRegistry::new();
    registry.expect_export().returning(|_| Err(StoreError::unavailable("no route").into()));
    assert!(matches!(service(registry).export(None).await, Err(RegistryError::Store(_))));
}
