//! [`crate::resource::ResourceRepository::store`].

use super::scene::{TEXTS, at_last, organizations, shuffled, store_all, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use crate::resource::{Domain, Meta, NewResource, ResourceType, StoreOutcome, StoredContent};
use crate::testing::{a_blob_key, a_meta, a_resource, at, resource_guid, stored};
use crate::timestamp::Timestamp;
use futures_util::FutureExt;
use futures_util::future::{join_all, try_join_all};
use std::collections::BTreeSet;

/// Decisions T1, T7–T10.
pub async fn a_new_resource_is_found_as_it_was_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let resource = NewResource { domain: Some(Domain::Public), meta: some_meta(), ..a_resource(1) };
    assert_eq!(stores.resources.store(acme, resource.clone(), at(9)).await?, StoreOutcome::Stored);
    assert_eq!(stores.resources.find(acme, resource.guid).await?, Some(stored(acme, resource)));
    Ok(())
}

/// Decision T14.
pub async fn a_newer_resource_replaces_the_stored_one_whole(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let former = NewResource { domain: Some(Domain::Public), meta: some_meta(), ..a_resource(1) };
    stores.resources.store(acme, former, at(0)).await?;
    let newer = NewResource {
        resource_type: ResourceType::generic(),
        checksum: Sha1Checksum::of(b"newer"),
        modified: at(1),
        domain: Some(Domain::Private),
        meta: a_meta(&[("Name", "Newer")]),
        content: StoredContent { key: a_blob_key(2), size: 5 },
        ..a_resource(1)
    };
    assert_eq!(stores.resources.store(acme, newer.clone(), at(0)).await?, StoreOutcome::Stored);
    assert_eq!(stores.resources.find(acme, newer.guid).await?, Some(stored(acme, newer)));
    Ok(())
}

/// Decisions T2, T13.
pub async fn an_older_resource_is_refused_and_changes_nothing(stores: &Stores) -> Kept {
    refused_at(stores, Timestamp::from_micros(at(0).as_micros() - 1)).await
}

/// Decision T2.
pub async fn a_resource_with_an_equal_timestamp_is_refused(stores: &Stores) -> Kept {
    refused_at(stores, at(0)).await
}

async fn refused_at(stores: &Stores, modified: Timestamp) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    let current = stored(acme, a_resource(1));
    let late = NewResource {
        modified,
        domain: Some(Domain::Public),
        checksum: Sha1Checksum::of(b"late"),
        meta: some_meta(),
        content: StoredContent { key: a_blob_key(2), size: 4 },
        ..a_resource(1)
    };
    let outcome = stores.resources.store(acme, late, at(0)).await?;
    assert_eq!(outcome, StoreOutcome::NotNewer(Box::new(current.clone())));
    assert_eq!(stores.resources.find(acme, current.guid).await?, Some(current));
    // What is not stored stays the caller's to remove: it is neither discarded nor known.
    assert!(stores.ledger.known(&[a_blob_key(2)]).await?.is_empty());
    assert_eq!(stores.ledger.discarded_before(at(1000), 10).await?, []);
    Ok(())
}

/// Decision T3.
pub async fn one_microsecond_makes_a_resource_newer(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    let modified = Timestamp::from_micros(at(0).as_micros() + 1);
    let newer = update(1, 2, modified);
    assert_eq!(stores.resources.store(acme, newer.clone(), at(0)).await?, StoreOutcome::Stored);
    assert_eq!(stores.resources.find(acme, newer.guid).await?.map(|found| found.modified), Some(modified));
    Ok(())
}

/// Decisions T3, T4: the earliest and the latest Timestamp that the forms of T2 can write.
pub async fn timestamps_of_all_years_are_kept(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let texts = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"];
    for (number, text) in (2..).zip(texts) {
        let modified = Timestamp::parse(text).ok_or("a valid timestamp")?;
        let newer = update(1, number, modified);
        assert_eq!(stores.resources.store(acme, newer.clone(), at(0)).await?, StoreOutcome::Stored, "{text}");
        assert_eq!(stores.resources.find(acme, newer.guid).await?.map(|found| found.modified), Some(modified));
    }
    Ok(())
}

/// Decision T10.
pub async fn an_unnamed_domain_is_private_at_first(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, NewResource { domain: None, ..a_resource(1) }, at(0)).await?;
    assert_eq!(domain_of(stores, acme).await?, Some(Domain::Private));
    Ok(())
}

/// Decision T10.
pub async fn an_unnamed_domain_keeps_the_stored_one(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, NewResource { domain: Some(Domain::Public), ..a_resource(1) }, at(0)).await?;
    stores.resources.store(acme, NewResource { domain: None, ..update(1, 2, at(1)) }, at(0)).await?;
    assert_eq!(domain_of(stores, acme).await?, Some(Domain::Public));
    Ok(())
}

/// Decision T10.
pub async fn a_named_domain_replaces_the_stored_one(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    for (number, modified, domain) in [(2, at(1), Domain::Public), (3, at(2), Domain::Private)] {
        let update = NewResource { domain: Some(domain), ..update(1, number, modified) };
        stores.resources.store(acme, update, at(0)).await?;
        assert_eq!(domain_of(stores, acme).await?, Some(domain));
    }
    Ok(())
}

/// The blob of the replaced resource is entered in the same step, at the time of the call.
pub async fn the_replaced_blob_is_discarded_at_the_time_of_the_call(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(100)).await?;
    stores.resources.store(acme, update(1, 2, at(1)), at(200)).await?;
    assert_eq!(stores.ledger.discarded_before(at(200), 10).await?, []);
    let later = Timestamp::from_micros(at(200).as_micros() + 1);
    assert_eq!(stores.ledger.discarded_before(later, 10).await?, [a_blob_key(1)]);
    Ok(())
}

/// Decision T1.
pub async fn organizations_keep_their_own_resource_under_one_guid(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of_acme = NewResource { modified: at(5), ..a_resource(1) };
    let of_zenith = NewResource { meta: some_meta(), ..update(1, 2, at(1)) };
    assert_eq!(stores.resources.store(acme, of_acme.clone(), at(0)).await?, StoreOutcome::Stored);
    assert_eq!(stores.resources.store(zenith, of_zenith.clone(), at(0)).await?, StoreOutcome::Stored);
    assert_eq!(stores.resources.find(acme, of_acme.guid).await?, Some(stored(acme, of_acme)));
    assert_eq!(stores.resources.find(zenith, of_zenith.guid).await?, Some(stored(zenith, of_zenith)));
    assert_eq!(stores.ledger.discarded_before(at(1000), 10).await?, []);
    Ok(())
}

/// Decision T5: 101 calls at once, in an order that is neither rising nor falling.
pub async fn of_concurrent_updates_the_newest_wins(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let number = |seconds: i64| 1000 + u128::from(seconds.unsigned_abs());
    let updates = shuffled().map(|seconds| update(1, number(seconds), at(seconds)));
    let outcomes = join_all(updates.map(|update| {
        let content = update.content.key.clone();
        let modified = update.modified;
        stores.resources.store(acme, update, at(7)).map(move |outcome| (content, modified, outcome))
    }));
    let mut replaced = BTreeSet::new();
    for (key, modified, outcome) in outcomes.await {
        match outcome? {
            StoreOutcome::Stored => assert!(replaced.insert(key)),
            StoreOutcome::NotNewer(current) => assert!(current.modified >= modified, "refused for an older one"),
        }
    }
    let current = stores.resources.find(acme, resource_guid(1)).await?;
    assert_eq!(current, Some(stored(acme, update(1, number(100), at(100)))));
    assert!(replaced.remove(&a_blob_key(number(100))), "the newest was refused");
    let discarded = stores.ledger.discarded_before(at(8), 200).await?;
    assert_eq!(discarded.len(), replaced.len());
    assert_eq!(discarded.into_iter().collect::<BTreeSet<_>>(), replaced);
    Ok(())
}

/// Decisions T2, T5.
pub async fn of_concurrent_equal_timestamps_exactly_one_is_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let calls = (0..50).map(|number| stores.resources.store(acme, update(1, 1000 + number, at(0)), at(0)));
    let outcomes = try_join_all(calls).await?;
    let winners: Vec<u128> = (1000..)
        .zip(&outcomes)
        .filter(|(_, outcome)| **outcome == StoreOutcome::Stored)
        .map(|(number, _)| number)
        .collect();
    let [winner] = winners[..] else { panic!("stored: {winners:?}") };
    let current = stored(acme, update(1, winner, at(0)));
    let lost = outcomes.iter().filter(|outcome| **outcome == StoreOutcome::NotNewer(Box::new(current.clone())));
    assert_eq!(lost.count(), 49);
    assert_eq!(stores.resources.find(acme, resource_guid(1)).await?, Some(current));
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, []);
    Ok(())
}

/// Concurrent writes of different resources and organizations don't disturb each other.
pub async fn concurrent_writes_of_different_resources_all_land(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false, false]).await?;
    let resources = |organization: OrganizationId| {
        let base = 1000 * u128::from(organization.0.unsigned_abs());
        (0..60).map(move |number| NewResource {
            content: StoredContent { key: a_blob_key(base + number), size: 1 },
            ..a_resource(number)
        })
    };
    try_join_all(ids.iter().map(|id| store_all(stores, *id, resources(*id).collect()))).await?;
    for id in ids {
        for resource in resources(id) {
            assert_eq!(stores.resources.find(id, resource.guid).await?, Some(stored(id, resource)));
        }
    }
    Ok(())
}

/// Decision R9: texts are kept byte for byte.
pub async fn texts_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = "ä\"🖨".repeat(150_000);
    for (number, text) in (1..).zip(TEXTS.iter().copied().chain([long.as_str()])) {
        let resource = NewResource {
            resource_type: ResourceType::new(text).ok_or("a type that is not blank")?,
            meta: a_meta(&[("Name", text), ("ProfileGroup", text), ("Media", text), ("Mode", text), (text, text)]),
            ..a_resource(number)
        };
        stores.resources.store(acme, resource.clone(), at(0)).await?;
        let found = stores.resources.find(acme, resource.guid).await?;
        assert!(found == Some(stored(acme, resource)), "changed: {:?}", crate::text::cut(text, 40));
    }
    Ok(())
}

/// Sizes reach from the empty file (decision T11) beyond 32 bits.
pub async fn sizes_of_all_magnitudes_are_kept(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (number, size) in (1..).zip([0, 1, u64::from(u32::MAX) + 1, 1 << 50]) {
        let content = StoredContent { key: a_blob_key(number), size };
        stores.resources.store(acme, NewResource { content, ..a_resource(number) }, at(0)).await?;
        let found = stores.resources.find(acme, resource_guid(number)).await?;
        assert_eq!(found.map(|found| found.content.size), Some(size));
    }
    Ok(())
}

/// A write that was begun runs to its end, even if its caller goes away.
pub async fn a_store_that_was_begun_ends_without_its_caller(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    // The call is begun and then dropped, as that of a client who hangs up.
    drop(stores.resources.store(acme, a_resource(1), at(0)).now_or_never());
    let landed = async || Ok(stores.resources.find(acme, resource_guid(1)).await?.is_some());
    assert!(at_last(landed).await?, "the resource was lost");
    Ok(())
}

fn some_meta() -> Meta {
    a_meta(&[("Name", "Coated"), ("ProfileGroup", "G"), ("MediaType", "M"), ("Mode", "6c"), ("Ink", "UV")])
}

/// An update of resource `number` whose blob and checksum are those of `content`.
fn update(number: u128, content: u128, modified: Timestamp) -> NewResource {
    NewResource { guid: resource_guid(number), modified, ..a_resource(content) }
}

async fn domain_of(stores: &Stores, organization: OrganizationId) -> Result<Option<Domain>, StoreError> {
    Ok(stores.resources.find(organization, resource_guid(1)).await?.map(|found| found.domain))
}
