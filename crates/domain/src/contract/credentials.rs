//! [`crate::access::CredentialDirectory`]. That revoked keys are not found stands with the keys of
//! the fleet registry.

use super::scene::{at_last, register, two_organizations};
use super::{Kept, Stores};
use crate::access::{CredentialDigest, KeyHolder, RegisteredComputer};
use crate::caller::CallingComputer;
use crate::error::StoreError;
use crate::fleet::{Computer, FleetOrganization, Secret};
use crate::testing::{
    ACME, ACME_HASH, ACME_SERIAL, ANN_KEY, BOB_KEY, ZENITH, ZENITH_HASH, ZENITH_SERIAL, ZOE_KEY, acme_records,
    zenith_records,
};
use crate::text::Folded;

/// Decision A1.
pub async fn a_key_is_found_with_its_user_and_organization(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let expected = [(ANN_KEY, acme, ACME, "Ann"), (BOB_KEY, acme, ACME, "Bob"), (ZOE_KEY, zenith, ZENITH, "Zoe")];
    for (key, organization, name, user) in expected {
        let holder = stores.credentials.find_key_holder(CredentialDigest::of(key)).await?;
        let expected = KeyHolder { organization, organization_name: name.to_owned(), user: user.to_owned() };
        assert_eq!(holder, Some(expected));
    }
    assert_ne!(acme, zenith);
    Ok(())
}

/// Decision A1.
pub async fn a_hardware_hash_is_found_with_its_computer(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of_acme = RegisteredComputer {
        organization: acme,
        organization_name: ACME.to_owned(),
        computer: CallingComputer {
            guid: acme_records().computer,
            name: "RIP-01".to_owned(),
            user: Some("Ann".to_owned()),
        },
        serial_number: Folded::of(ACME_SERIAL),
    };
    assert_eq!(computer(stores, ACME_HASH).await?, Some(of_acme));
    let of_zenith = RegisteredComputer {
        organization: zenith,
        organization_name: ZENITH.to_owned(),
        computer: CallingComputer { guid: zenith_records().computer, name: "RIP-02".to_owned(), user: None },
        serial_number: Folded::of(ZENITH_SERIAL),
    };
    assert_eq!(computer(stores, ZENITH_HASH).await?, Some(of_zenith));
    Ok(())
}

/// Decision A3: what is not registered is not found; keys and hashes are not mixed up, and both
/// count with their case.
pub async fn unknown_credentials_are_not_found(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    for unknown in ["unknown", "", ACME_HASH, "ANN-KEY-0123456789"] {
        assert_eq!(stores.credentials.find_key_holder(CredentialDigest::of(unknown)).await?, None, "{unknown}");
    }
    for unknown in ["unknown", "", ANN_KEY, "hh-0001"] {
        assert_eq!(computer(stores, unknown).await?, None, "{unknown}");
    }
    Ok(())
}

/// Decision A6: what was unknown a moment ago is found within 5 seconds after its registration.
pub async fn a_registration_takes_effect_soon(stores: &Stores) -> Kept {
    assert_eq!(computer(stores, ACME_HASH).await?, None);
    assert_eq!(stores.credentials.find_key_holder(CredentialDigest::of(ANN_KEY)).await?, None);
    stores.fleet_registry.apply(&crate::testing::a_fleet(), &[], crate::testing::at(0)).await?;
    let found = async || {
        let holder = stores.credentials.find_key_holder(CredentialDigest::of(ANN_KEY)).await?;
        Ok(holder.is_some() && computer(stores, ACME_HASH).await?.is_some())
    };
    assert!(at_last(found).await?, "not found");
    Ok(())
}

/// Decision A6: a new hash, serial number or user replaces the former one.
pub async fn a_changed_computer_is_found_as_it_is_now(stores: &Stores) -> Kept {
    two_organizations(stores).await?;
    assert!(computer(stores, ACME_HASH).await?.is_some());
    let changed = Computer {
        guid: acme_records().computer,
        name: Some("RIP-09".to_owned()),
        hardware_hash: Some(Secret::new("HH-0009".to_owned())),
        serial_number: Some("ſn-Größe".to_owned()),
        user: Some("Bob".to_owned()),
    };
    let organization =
        FleetOrganization { name: ACME.to_owned(), computers: vec![changed], ..FleetOrganization::default() };
    register(stores, organization).await?;
    let now =
        CallingComputer { guid: acme_records().computer, name: "RIP-09".to_owned(), user: Some("Bob".to_owned()) };
    let replaced = async || {
        let found = computer(stores, "HH-0009").await?;
        let found = found.map(|found| (found.computer, found.serial_number));
        Ok(found == Some((now.clone(), Folded::of("SN-GRÖSSE"))) && computer(stores, ACME_HASH).await?.is_none())
    };
    assert!(at_last(replaced).await?, "the former computer is still found");
    assert!(computer(stores, ZENITH_HASH).await?.is_some());
    Ok(())
}

async fn computer(stores: &Stores, hash: &str) -> Result<Option<RegisteredComputer>, StoreError> {
    stores.credentials.find_computer(CredentialDigest::of(hash)).await
}
