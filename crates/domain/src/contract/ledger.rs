//! [`crate::blob::BlobLedger`]. That replaced and deleted blobs are entered stands with the resources.

use super::scene::{store_all, two_organizations};
use super::{Kept, Stores};
use crate::blob::{BlobKey, BlobReference};
use crate::crash_report::{CrashPart, NewCrashReport, PartRole};
use crate::error::StoreError;
use crate::resource::{NewResource, Preconditions};
use crate::testing::{a_blob_key, a_crash_report, a_resource, at, resource_guid};
use crate::timestamp::Timestamp;
use futures_util::TryStreamExt;
use std::collections::{BTreeSet, HashSet};

/// The bound is exclusive, the order by time of discarding.
pub async fn discarded_blobs_are_named_oldest_first(stores: &Stores) -> Kept {
    for (number, seconds) in [(1, 3), (2, 1), (3, 2)] {
        stores.ledger.discard(&[a_blob_key(number)], at(seconds)).await?;
    }
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, []);
    assert_eq!(stores.ledger.discarded_before(at(3), 10).await?, [2, 3].map(a_blob_key));
    let later = Timestamp::from_micros(at(3).as_micros() + 1);
    assert_eq!(stores.ledger.discarded_before(later, 10).await?, [2, 3, 1].map(a_blob_key));
    Ok(())
}

/// No more are named than were asked for.
pub async fn no_more_discarded_blobs_are_named_than_asked_for(stores: &Stores) -> Kept {
    for number in 1..=5 {
        stores.ledger.discard(&[a_blob_key(number)], at(i64::try_from(number)?)).await?;
    }
    assert_eq!(stores.ledger.discarded_before(at(9), 2).await?, [1, 2].map(a_blob_key));
    assert_eq!(stores.ledger.discarded_before(at(9), 0).await?, []);
    Ok(())
}

/// What was swept is forgotten; forgetting it again is no error.
pub async fn forgotten_blobs_are_no_longer_named(stores: &Stores) -> Kept {
    stores.ledger.discard(&[1, 2, 3].map(a_blob_key), at(0)).await?;
    for _ in 0..2 {
        stores.ledger.forget(&[1, 3, 9].map(a_blob_key)).await?;
    }
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, [a_blob_key(2)]);
    assert_eq!(stores.ledger.known(&[1, 2, 3].map(a_blob_key)).await?, HashSet::from([a_blob_key(2)]));
    Ok(())
}

/// What can't be removed is tried again after the others; a blob that isn't discarded isn't entered.
pub async fn postponed_blobs_are_named_last(stores: &Stores) -> Kept {
    for number in 1..=4 {
        stores.ledger.discard(&[a_blob_key(number)], at(i64::try_from(number)?)).await?;
    }
    stores.ledger.postpone(&[1, 2, 9].map(a_blob_key), at(8)).await?;
    assert_eq!(stores.ledger.discarded_before(at(8), 10).await?, [3, 4].map(a_blob_key));
    assert_eq!(stores.ledger.discarded_before(at(9), 10).await?, [3, 4, 1, 2].map(a_blob_key));
    Ok(())
}

/// A blob is discarded once, however often it is entered, also twice in one call.
pub async fn a_blob_discarded_twice_is_named_once(stores: &Stores) -> Kept {
    stores.ledger.discard(&[1, 1, 2].map(a_blob_key), at(0)).await?;
    stores.ledger.discard(&[2, 3].map(a_blob_key), at(0)).await?;
    let named = stores.ledger.discarded_before(at(1), 10).await?;
    assert_eq!(named.len(), 3);
    assert_eq!(named.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3].map(a_blob_key)));
    Ok(())
}

/// Empty lists and lists of thousands are taken.
pub async fn lists_of_any_length_are_taken(stores: &Stores) -> Kept {
    stores.ledger.discard(&[], at(0)).await?;
    stores.ledger.forget(&[]).await?;
    stores.ledger.postpone(&[], at(0)).await?;
    assert_eq!(stores.ledger.known(&[]).await?, HashSet::new());
    let many: Vec<BlobKey> = (0..40_000).map(a_blob_key).collect();
    stores.ledger.discard(&many, at(0)).await?;
    assert_eq!(stores.ledger.discarded_before(at(1), 100_000).await?.len(), 40_000);
    assert_eq!(stores.ledger.known(&many).await?.len(), 40_000);
    stores.ledger.postpone(&many, at(0)).await?;
    stores.ledger.forget(&many).await?;
    assert_eq!(stores.ledger.discarded_before(at(1), 100_000).await?, []);
    Ok(())
}

/// Known is what a record refers to or what is discarded, of any organization.
pub async fn referenced_and_discarded_blobs_are_known(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.resources.store(zenith, a_resource(2), at(0)).await?;
    stores.crash_reports.add(zenith, two_parts(3)).await?;
    stores.ledger.discard(&[a_blob_key(4)], at(0)).await?;
    let parts: Vec<BlobKey> = two_parts(3).parts.into_iter().map(|part| part.key).collect();
    let mut asked: Vec<BlobKey> = [1, 2, 3, 4, 5].map(a_blob_key).to_vec();
    asked.extend(parts.clone());
    let known = stores.ledger.known(&asked).await?;
    assert_eq!(known, [1, 2, 4].map(a_blob_key).into_iter().chain(parts).collect());
    Ok(())
}

/// Every claim of a resource or of a part of a report, with its owner in words.
pub async fn every_claim_of_a_record_is_referenced(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.resources.store(zenith, NewResource { guid: resource_guid(1), ..a_resource(2) }, at(0)).await?;
    stores.crash_reports.add(zenith, two_parts(3)).await?;
    // Neither what is discarded nor what was replaced is claimed any more.
    stores.ledger.discard(&[a_blob_key(4)], at(0)).await?;
    stores
        .resources
        .store(acme, NewResource { guid: resource_guid(1), modified: at(1), ..a_resource(5) }, at(0))
        .await?;

    let mut claims = references(stores).await?;
    claims.sort_by(|one, other| one.key.cmp(&other.key));
    let resource = |number: u128| (a_blob_key(number), a_resource(number).content.size, a_resource(number).checksum);
    let parts = two_parts(3).parts.into_iter().map(|part| (part.key, part.size, part.checksum));
    let expected: Vec<_> = parts.chain([resource(2), resource(5)]).collect();
    let found: Vec<_> = claims.iter().map(|claim| (claim.key.clone(), claim.size, claim.checksum)).collect();
    assert_eq!(found, expected);
    let words = [
        ("crash", "Zenith Media"),
        ("crash", "Zenith Media"),
        ("resource", "Zenith Media"),
        ("resource", "Acme Print"),
    ];
    for (claim, (kind, organization)) in claims.iter().zip(words) {
        let owner = &claim.owner;
        assert!(owner.contains(kind) && owner.contains(organization), "{owner}");
        let guid = if kind == "crash" { two_parts(3).id.to_string() } else { resource_guid(1).to_string() };
        assert!(owner.contains(&guid), "{owner}");
    }
    Ok(())
}

/// Claims that don't fit into one page are all named, once each.
pub async fn thousands_of_claims_are_all_referenced(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of_zenith = |number: u128| NewResource { guid: resource_guid(number - 2_000), ..a_resource(number) };
    store_all(stores, acme, (0..1_500).map(a_resource).collect()).await?;
    store_all(stores, zenith, (2_000..3_000).map(of_zenith).collect()).await?;
    let claims = references(stores).await?;
    assert_eq!(claims.len(), 2_500);
    let keys: BTreeSet<BlobKey> = claims.into_iter().map(|claim| claim.key).collect();
    assert!(keys == (0..1_500).chain(2_000..3_000).map(a_blob_key).collect(), "claims are wrong");
    Ok(())
}

/// A claim is current as long as its record holds this very blob.
pub async fn a_claim_is_current_until_its_record_changes(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    store_all(stores, acme, vec![a_resource(1), a_resource(2), a_resource(3)]).await?;
    stores.crash_reports.add(acme, two_parts(4)).await?;
    // The same GUIDs elsewhere keep no claim alive.
    let elsewhere = |number: u128| NewResource { guid: resource_guid(number - 10), ..a_resource(number) };
    store_all(stores, zenith, vec![elsewhere(11), elsewhere(12)]).await?;
    let claims = references(stores).await?;
    for claim in &claims {
        assert!(is_current(stores, claim).await?, "{claim:?}");
    }
    stores
        .resources
        .store(acme, NewResource { guid: resource_guid(1), modified: at(1), ..a_resource(21) }, at(0))
        .await?;
    stores.resources.delete(acme, resource_guid(2), Preconditions::None, at(0)).await?;
    let gone = [1, 2].map(a_blob_key);
    for claim in &claims {
        assert_eq!(is_current(stores, claim).await?, !gone.contains(&claim.key), "{claim:?}");
    }
    Ok(())
}

/// A report of a call stack and a dump.
fn two_parts(number: u128) -> NewCrashReport {
    let mut report = a_crash_report(number);
    let dump = a_crash_report(number + 1_000).parts.remove(0);
    report.parts.push(CrashPart { role: PartRole::Dump, ..dump });
    report
}

async fn is_current(stores: &Stores, claim: &BlobReference) -> Result<bool, StoreError> {
    let other = a_blob_key(99_999);
    let referenced = stores.ledger.referenced(&[claim.key.clone(), other]).await?;
    assert!(referenced.iter().all(|key| *key == claim.key), "{referenced:?}");
    Ok(!referenced.is_empty())
}

async fn references(stores: &Stores) -> Result<Vec<BlobReference>, StoreError> {
    stores.ledger.references().try_collect().await
}
