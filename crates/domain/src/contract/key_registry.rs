//! [`crate::fleet::KeyRegistry`].

use super::scene::{at_last, two_organizations};
use super::{Kept, Stores};
use crate::access::CredentialDigest;
use crate::error::StoreError;
use crate::fleet::{FleetConflict, FleetRecord, KeyFilter, KeyId, KeyIdPrefix, NewKey, RegistryError, Secret};
use crate::testing::{ACME, ANN_KEY, BOB_KEY, ZENITH, ZOE_KEY, at};

const SECOND: &str = "second-key-0123456789";

/// Keys are listed with all that is known of them, and without themselves.
pub async fn keys_are_listed_by_organization_user_and_age(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.add_key(&second_key(), at(10)).await?;
    stores.fleet_registry.revoke_keys(ACME, "Bob", at(20)).await?;
    let listed = stores.keys.list(KeyFilter::default()).await?;
    let reported: Vec<_> = listed.iter().map(|key| (&*key.organization, &*key.user, key.id, key.issued)).collect();
    let expected = [
        (ACME, "Ann", id(ANN_KEY), at(0)),
        (ACME, "Ann", id(SECOND), at(10)),
        (ACME, "Bob", id(BOB_KEY), at(0)),
        (ZENITH, "Zoe", id(ZOE_KEY), at(0)),
    ];
    assert_eq!(reported, expected);
    let revoked: Vec<_> = listed.iter().map(|key| key.revoked).collect();
    assert_eq!(revoked, [None, None, Some(at(20)), None]);
    assert!(listed.iter().all(|key| key.last_used.is_none()));
    let of_zenith = stores.keys.list(of(ZENITH)).await?;
    assert_eq!(of_zenith, listed[3..]);
    let unknown = stores.keys.list(of("Acme")).await;
    assert!(matches!(unknown, Err(RegistryError::Conflict(FleetConflict::NotFound { .. }))), "{unknown:?}");
    Ok(())
}

/// By user and by the beginning of the id; the keys of a retired user are marked.
pub async fn keys_are_found_by_user_and_by_the_beginning_of_their_id(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.add_key(&second_key(), at(10)).await?;
    stores.records.set_retired(ACME, &FleetRecord::User("Ann".to_owned()), Some(at(20))).await?;
    let ids = async |filter| -> Result<Vec<KeyId>, RegistryError> {
        Ok(stores.keys.list(filter).await?.into_iter().map(|key| key.id).collect())
    };
    let user = |name: &str| KeyFilter { user: Some(name.to_owned()), ..KeyFilter::default() };
    assert_eq!(ids(user("Ann")).await?, [id(ANN_KEY), id(SECOND)]);
    assert_eq!(ids(KeyFilter { user: Some("Ann".to_owned()), ..of(ZENITH) }).await?, []);
    assert_eq!(ids(user("ann")).await?, []);
    for key in [ANN_KEY, SECOND, BOB_KEY, ZOE_KEY] {
        let digits = id(key).to_string();
        for length in [7, 8, 16] {
            let filter = KeyFilter { id: KeyIdPrefix::parse(&digits[..length]), ..KeyFilter::default() };
            assert_eq!(ids(filter).await?, [id(key)], "{}", &digits[..length]);
        }
    }
    let retired: Vec<_> = stores.keys.list(of(ACME)).await?.into_iter().map(|key| key.is_user_retired).collect();
    assert_eq!(retired, [true, true, false]);
    Ok(())
}

/// Rotation without a gap: two keys are valid at once, and the old one is revoked alone.
pub async fn one_key_is_revoked_and_the_other_stays_valid(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    stores.fleet_registry.add_key(&second_key(), at(10)).await?;
    assert!(is_valid(stores, ANN_KEY).await? && is_valid(stores, SECOND).await?);
    assert!(stores.keys.revoke(id(ANN_KEY), at(20)).await?);
    assert!(at_last(async || Ok(!is_valid(stores, ANN_KEY).await?)).await?, "the revoked key is valid");
    assert!(is_valid(stores, SECOND).await? && is_valid(stores, BOB_KEY).await?);
    assert!(!stores.keys.revoke(id(ANN_KEY), at(30)).await?, "it was revoked before");
    let listed = stores.keys.list(of(ACME)).await?;
    assert_eq!(listed[0].revoked, Some(at(20)), "and stays revoked since then");
    let unknown = stores.keys.revoke(id("another key"), at(30)).await;
    assert!(matches!(unknown, Err(RegistryError::Conflict(FleetConflict::NotFound { .. }))), "{unknown:?}");
    Ok(())
}

/// The last use never goes back, and unknown keys are left out.
pub async fn the_last_use_of_a_key_is_kept(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    let use_of = |key: &str, second| (CredentialDigest::of(key), at(second));
    stores.keys.note_uses(&[use_of(ANN_KEY, 50), use_of("another key", 50), use_of(ZOE_KEY, 60)]).await?;
    stores.keys.note_uses(&[use_of(ANN_KEY, 40), use_of(ZOE_KEY, 70)]).await?;
    stores.keys.note_uses(&[]).await?;
    let used: Vec<_> = stores.keys.list(KeyFilter::default()).await?.into_iter().map(|key| key.last_used).collect();
    assert_eq!(used, [Some(at(50)), None, Some(at(70))]);
    assert!(is_valid(stores, ANN_KEY).await?);
    Ok(())
}

fn of(organization: &str) -> KeyFilter {
    KeyFilter { organization: Some(organization.to_owned()), ..KeyFilter::default() }
}

fn second_key() -> NewKey {
    NewKey { organization: ACME.to_owned(), user: "Ann".to_owned(), mis_key: Secret::new(SECOND.to_owned()) }
}

fn id(key: &str) -> KeyId {
    KeyId::of(&CredentialDigest::of(key))
}

async fn is_valid(stores: &Stores, key: &str) -> Result<bool, StoreError> {
    Ok(stores.credentials.find_key_holder(CredentialDigest::of(key)).await?.is_some())
}
