//! [`crate::fleet::FleetRegistry`]: how users come by keys and lose them (decision A6).

use super::scene::{at_last, two_organizations};
use super::{Kept, Stores};
use crate::access::CredentialDigest;
use crate::error::StoreError;
use crate::fleet::{
    Applied, Fleet, FleetConflict, FleetOrganization, KeyRevocation, NewKey, RegistryError, Secret, SimilarName, User,
};
use crate::testing::{ACME, ANN_KEY, BOB_KEY, ZENITH, ZOE_KEY, a_fleet, at};
use futures_util::future::try_join_all;

const FIRST: &str = "first-key-0123456789";
const SECOND: &str = "second-key-0123456789";

/// Operation: a user whose key the file doesn't bring is issued one.
pub async fn a_user_without_a_key_is_issued_the_new_one(stores: &Stores) -> Kept {
    let keys = [new_key(ACME, "Max", FIRST), new_key(ZENITH, "Max", SECOND)];
    let fleet = Fleet { organizations: vec![with_user(ZENITH, "Max", None), with_user(ACME, "Max", None)] };
    let applied = stores.fleet_registry.apply(&fleet, &keys, at(0)).await?;
    assert_eq!(applied, Applied { issued: keys.to_vec(), ..Applied::default() });
    assert_eq!(holder(stores, FIRST).await?, Some((ACME.to_owned(), "Max".to_owned())));
    assert_eq!(holder(stores, SECOND).await?, Some((ZENITH.to_owned(), "Max".to_owned())));
    Ok(())
}

/// Decision O2: names that differ by case are two, and mostly a mistake.
pub async fn what_is_new_and_differs_by_case_only_is_told(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let shouted = ACME.to_uppercase();
    let fleet = Fleet { organizations: vec![with_user(&shouted, "Ann", None), with_user(ACME, "ANN", None)] };
    let output: Vec<_> = stores.fleet_registry.apply(&fleet, &[], at(1)).await?.similar_names;
    let pair = |name: &str, other: &str, organization: Option<&str>| SimilarName {
        name: name.to_owned(),
        other: other.to_owned(),
        organization: organization.map(str::to_owned),
    };
    assert_eq!(output, [pair(&shouted, ACME, None), pair("ANN", "Ann", Some(ACME))]);
    let again = stores.fleet_registry.apply(&fleet, &[], at(2)).await?;
    assert_eq!(again.similar_names, [], "it is registered now, and no news");
    Ok(())
}

/// Operation: the key that the file brings goes before a new one.
pub async fn the_key_of_the_file_goes_before_a_new_one(stores: &Stores) -> Kept {
    let fleet = Fleet { organizations: vec![with_user(ACME, "Max", Some(FIRST))] };
    let applied = stores.fleet_registry.apply(&fleet, &[new_key(ACME, "Max", SECOND)], at(0)).await?;
    assert_eq!(applied, Applied::default());
    assert_eq!(holder(stores, FIRST).await?, Some((ACME.to_owned(), "Max".to_owned())));
    assert_eq!(holder(stores, SECOND).await?, None);
    Ok(())
}

/// Operation: a user with a key already registered gets no second one.
pub async fn a_user_with_a_key_is_issued_none(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let fleet = Fleet { organizations: vec![with_user(ACME, "Ann", None)] };
    let applied = stores.fleet_registry.apply(&fleet, &[new_key(ACME, "Ann", FIRST)], at(1)).await?;
    assert_eq!(applied, Applied::default());
    assert_eq!(holder(stores, FIRST).await?, None);
    assert!(holder(stores, ANN_KEY).await?.is_some());
    Ok(())
}

/// Only users that the file names are issued keys.
pub async fn a_new_key_for_nobody_in_the_file_is_not_registered(stores: &Stores) -> Kept {
    let fleet = Fleet { organizations: vec![with_user(ACME, "Max", None)] };
    let keys = [new_key(ACME, "Mia", FIRST), new_key(ZENITH, "Max", SECOND)];
    assert_eq!(stores.fleet_registry.apply(&fleet, &keys, at(0)).await?, Applied::default());
    assert_eq!(holder(stores, FIRST).await?, None);
    assert_eq!(holder(stores, SECOND).await?, None);
    Ok(())
}

/// Operation: another key in the file is ignored, with a warning.
pub async fn another_key_for_a_user_who_has_one_is_left_out(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let fleet = Fleet { organizations: vec![with_user(ACME, "Ann", Some(FIRST))] };
    let applied = stores.fleet_registry.apply(&fleet, &[], at(1)).await?;
    assert_eq!(applied.keys_left_out, [(ACME.to_owned(), "Ann".to_owned())]);
    assert_eq!(applied.issued, []);
    assert_eq!(holder(stores, FIRST).await?, None);
    assert!(holder(stores, ANN_KEY).await?.is_some());
    Ok(())
}

/// Decision A6: a revoked key stays revoked, whatever a fleet file says, and a new one comes only by
/// `key issue`.
pub async fn a_revoked_user_gets_no_key_by_a_file(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.revoke_keys(ACME, "Ann", at(1)).await?;
    stores.fleet_registry.apply(&a_fleet(), &[new_key(ACME, "Ann", FIRST)], at(2)).await?;
    let without = Fleet { organizations: vec![with_user(ACME, "Ann", None)] };
    let applied = stores.fleet_registry.apply(&without, &[new_key(ACME, "Ann", FIRST)], at(3)).await?;
    assert_eq!(applied, Applied::default());
    let another = Fleet { organizations: vec![with_user(ACME, "Ann", Some(SECOND))] };
    let applied = stores.fleet_registry.apply(&another, &[], at(4)).await?;
    assert_eq!(applied.keys_left_out, [(ACME.to_owned(), "Ann".to_owned())]);
    let refused = async || {
        let [ann, first, second] = [holder(stores, ANN_KEY), holder(stores, FIRST), holder(stores, SECOND)];
        Ok(ann.await?.is_none() && first.await?.is_none() && second.await?.is_none())
    };
    assert!(at_last(refused).await?, "a revoked user has a key");
    Ok(())
}

/// Decision A6: a revoked key is not found within 5 seconds, though it was found just before.
pub async fn a_revoked_key_is_no_longer_found(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    assert!(holder(stores, ANN_KEY).await?.is_some());
    let revocation = stores.fleet_registry.revoke_keys(ACME, "Ann", at(1)).await?;
    assert_eq!(revocation, KeyRevocation { revoked: 1 });
    assert!(at_last(async || Ok(holder(stores, ANN_KEY).await?.is_none())).await?, "still found");
    assert!(holder(stores, BOB_KEY).await?.is_some());
    assert!(holder(stores, ZOE_KEY).await?.is_some());
    Ok(())
}

/// A user may have several keys; all of them work, and all are revoked at once.
pub async fn all_keys_of_a_user_are_revoked(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.add_key(&new_key(ACME, "Ann", FIRST), at(1)).await?;
    stores.fleet_registry.add_key(&new_key(ACME, "Ann", SECOND), at(1)).await?;
    for key in [ANN_KEY, FIRST, SECOND] {
        assert_eq!(holder(stores, key).await?, Some((ACME.to_owned(), "Ann".to_owned())));
    }
    assert_eq!(stores.fleet_registry.revoke_keys(ACME, "Ann", at(2)).await?, KeyRevocation { revoked: 3 });
    assert_eq!(stores.fleet_registry.revoke_keys(ACME, "Ann", at(3)).await?, KeyRevocation { revoked: 0 });
    for key in [ANN_KEY, FIRST, SECOND] {
        assert!(at_last(async || Ok(holder(stores, key).await?.is_none())).await?, "still found");
    }
    Ok(())
}

/// Decision A6: a revoked user gets a new key by `key issue`, and the old ones stay revoked.
pub async fn a_revoked_user_gets_a_new_key_by_issue(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.revoke_keys(ACME, "Ann", at(1)).await?;
    assert_eq!(holder(stores, FIRST).await?, None);
    stores.fleet_registry.add_key(&new_key(ACME, "Ann", FIRST), at(2)).await?;
    assert!(at_last(async || Ok(holder(stores, FIRST).await?.is_some())).await?, "not found");
    assert!(at_last(async || Ok(holder(stores, ANN_KEY).await?.is_none())).await?, "revived");
    assert_eq!(stores.fleet_registry.revoke_keys(ACME, "Ann", at(3)).await?, KeyRevocation { revoked: 1 });
    Ok(())
}

/// Users of one name in two organizations are two users.
pub async fn revoking_reaches_one_organization_only(stores: &Stores) -> Kept {
    let users = vec![with_user(ACME, "Max", Some(FIRST)), with_user(ZENITH, "Max", Some(SECOND))];
    stores.fleet_registry.apply(&Fleet { organizations: users }, &[], at(0)).await?;
    stores.fleet_registry.revoke_keys(ACME, "Max", at(1)).await?;
    assert!(at_last(async || Ok(holder(stores, FIRST).await?.is_none())).await?, "still found");
    assert_eq!(holder(stores, SECOND).await?, Some((ZENITH.to_owned(), "Max".to_owned())));
    Ok(())
}

/// Keys are issued to and revoked from users who exist.
pub async fn keys_of_unknown_users_are_a_conflict(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    for (organization, user, named) in [(ACME, "Zoe", "Zoe"), ("Nobody", "Ann", "Nobody")] {
        let issued = stores.fleet_registry.add_key(&new_key(organization, user, FIRST), at(0)).await;
        let revoked = stores.fleet_registry.revoke_keys(organization, user, at(0)).await.map(|_| ());
        for outcome in [issued, revoked] {
            let Err(RegistryError::Conflict(FleetConflict::NotFound { record })) = outcome else {
                panic!("not seen: {outcome:?}");
            };
            assert!(record.contains(named), "{record}");
        }
    }
    assert_eq!(holder(stores, FIRST).await?, None);
    Ok(())
}

/// A key that a user has or had is never issued again.
pub async fn issuing_a_key_that_is_taken_is_a_conflict(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.revoke_keys(ACME, "Bob", at(1)).await?;
    for key in [ANN_KEY, BOB_KEY] {
        let outcome = stores.fleet_registry.add_key(&new_key(ZENITH, "Zoe", key), at(2)).await;
        let Err(RegistryError::Conflict(conflict @ FleetConflict::CredentialTaken { .. })) = outcome else {
            panic!("not seen: {outcome:?}");
        };
        assert!(!format!("{conflict} {conflict:?}").contains(key), "{conflict}");
    }
    assert_eq!(holder(stores, ANN_KEY).await?, Some((ACME.to_owned(), "Ann".to_owned())));
    Ok(())
}

/// Several server processes that start with one file at once issue one key for a user, not several.
pub async fn of_concurrent_applications_one_issues_the_key(stores: &Stores) -> Kept {
    let fleet = Fleet { organizations: vec![with_user(ACME, "Max", None)] };
    let keys: Vec<[NewKey; 1]> = (0..10).map(|number| [new_key(ACME, "Max", &format!("{FIRST}{number}"))]).collect();
    let calls = keys.iter().map(|keys| stores.fleet_registry.apply(&fleet, keys, at(0)));
    let issued: Vec<NewKey> = try_join_all(calls).await?.into_iter().flat_map(|applied| applied.issued).collect();
    let [issued] = &issued[..] else { panic!("{} keys were issued", issued.len()) };
    for [key] in &keys {
        let found = holder(stores, key.mis_key.reveal()).await?.is_some();
        assert_eq!(found, key == issued);
    }
    Ok(())
}

fn new_key(organization: &str, user: &str, key: &str) -> NewKey {
    NewKey { organization: organization.to_owned(), user: user.to_owned(), mis_key: Secret::new(key.to_owned()) }
}

fn with_user(organization: &str, user: &str, key: Option<&str>) -> FleetOrganization {
    let mis_key = key.map(|key| Secret::new(key.to_owned()));
    FleetOrganization {
        name: organization.to_owned(),
        users: vec![User { name: user.to_owned(), mis_key }],
        ..FleetOrganization::default()
    }
}

/// Organization and user of the key.
async fn holder(stores: &Stores, key: &str) -> Result<Option<(String, String)>, StoreError> {
    let holder = stores.credentials.find_key_holder(CredentialDigest::of(key)).await?;
    Ok(holder.map(|holder| (holder.organization_name, holder.user)))
}
