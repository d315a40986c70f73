//! [`crate::resource::ResourceRepository::delete`].

use super::scene::{at_last, organizations, register, two_organizations};
use super::{Kept, Stores};
use crate::checksum::Sha1Checksum;
use crate::fleet::{FleetOrganization, Queue};
use crate::resource::{DeleteOutcome, NewResource, OtherState, Preconditions, StoreOutcome, StoredContent};
use crate::testing::{ACME, a_blob_key, a_resource, acme_records, at, resource_guid, stored};
use crate::timestamp::Timestamp;
use futures_util::FutureExt;
use futures_util::future::try_join_all;

/// Interface 4.3.
pub async fn a_deleted_resource_is_gone(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.resources.store(acme, a_resource(2), at(0)).await?;
    assert_eq!(
        stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?,
        DeleteOutcome::Deleted
    );
    assert_eq!(stores.resources.find(acme, resource_guid(1)).await?, None);
    assert_eq!(stores.resources.find(acme, resource_guid(2)).await?, Some(stored(acme, a_resource(2))));
    Ok(())
}

/// The blob is entered in the same step, at the time of the call.
pub async fn the_deleted_blob_is_discarded_at_the_time_of_the_call(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(200)).await?;
    assert_eq!(stores.ledger.discarded_before(at(200), 10).await?, []);
    let later = Timestamp::from_micros(at(200).as_micros() + 1);
    assert_eq!(stores.ledger.discarded_before(later, 10).await?, [a_blob_key(1)]);
    Ok(())
}

/// Interface part 7.
pub async fn what_is_not_there_cannot_be_deleted(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    assert_eq!(
        stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?,
        DeleteOutcome::NotFound
    );
    // Existence comes before use (decision R1): a queue names this resource.
    let used = acme_records().used_by_queue;
    assert_eq!(stores.resources.delete(acme, used, Preconditions::None, at(0)).await?, DeleteOutcome::NotFound);
    Ok(())
}

/// Decision T15: delete reaches the organization's own only.
pub async fn another_organizations_resource_is_not_deleted(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.resources.store(zenith, a_resource(1), at(0)).await?;
    assert_eq!(
        stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?,
        DeleteOutcome::NotFound
    );
    let of_acme = NewResource { content: StoredContent { key: a_blob_key(2), size: 1 }, ..a_resource(1) };
    stores.resources.store(acme, of_acme, at(0)).await?;
    assert_eq!(
        stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?,
        DeleteOutcome::Deleted
    );
    assert_eq!(stores.resources.find(zenith, resource_guid(1)).await?, Some(stored(zenith, a_resource(1))));
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, [a_blob_key(2)]);
    Ok(())
}

/// Decision O3.
pub async fn a_resource_that_a_queue_uses_is_not_deleted(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let used = NewResource { guid: acme_records().used_by_queue, ..a_resource(1) };
    stays_in_use(stores, used, acme, "queue \"Banner\"").await
}

/// Decision O3.
pub async fn a_resource_that_a_job_uses_is_not_deleted(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let used = NewResource { guid: acme_records().used_by_job, ..a_resource(1) };
    stays_in_use(stores, used, acme, "job \"Order 17\"").await
}

async fn stays_in_use(
    stores: &Stores,
    used: NewResource,
    organization: crate::caller::OrganizationId,
    by: &str,
) -> Kept {
    stores.resources.store(organization, used.clone(), at(0)).await?;
    let outcome = stores.resources.delete(organization, used.guid, Preconditions::None, at(0)).await?;
    assert_eq!(outcome, DeleteOutcome::InUse { by: by.to_owned() });
    assert_eq!(stores.resources.find(organization, used.guid).await?, Some(stored(organization, used)));
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, []);
    Ok(())
}

/// Decision T17: what isn't the state that is meant stays, also where a queue uses it.
pub async fn a_resource_of_another_state_is_not_deleted(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let resource = NewResource { guid: acme_records().used_by_queue, ..a_resource(1) };
    let state = OtherState { checksum: resource.checksum, modified: resource.modified };
    let other = Sha1Checksum::of(b"another state");
    let earlier = Timestamp::from_micros(resource.modified.as_micros() - 1_000_000);
    let unmodified = Preconditions::UnmodifiedSince { since: earlier, now: resource.modified, max_ahead: None };
    let not_met = [Preconditions::Checksum(vec![other]), unmodified];
    for preconditions in not_met.clone() {
        let outcome = stores.resources.delete(acme, resource.guid, preconditions, at(0)).await?;
        assert_eq!(outcome, DeleteOutcome::NotFound);
    }
    stores.resources.store(acme, resource.clone(), at(0)).await?;
    for preconditions in not_met {
        let outcome = stores.resources.delete(acme, resource.guid, preconditions, at(0)).await?;
        assert_eq!(outcome, DeleteOutcome::OtherState(state.clone()));
    }
    assert_eq!(stores.resources.find(acme, resource.guid).await?, Some(stored(acme, resource)));
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, []);
    Ok(())
}

/// Decision T17.
pub async fn a_resource_of_the_state_that_is_meant_is_deleted(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let resource = a_resource(1);
    let met = [
        Preconditions::Checksum(vec![Sha1Checksum::of(b"another state"), resource.checksum]),
        Preconditions::UnmodifiedSince { since: resource.modified, now: resource.modified, max_ahead: None },
    ];
    for preconditions in met {
        stores.resources.store(acme, resource.clone(), at(0)).await?;
        let outcome = stores.resources.delete(acme, resource.guid, preconditions, at(0)).await?;
        assert_eq!(outcome, DeleteOutcome::Deleted);
    }
    Ok(())
}

/// Decision T17: a deletion that means the former state never removes an update.
pub async fn a_concurrent_update_is_not_deleted_for_the_state_before(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let version = |number: u32| NewResource {
        guid: resource_guid(1),
        modified: at(i64::from(number)),
        ..a_resource(u128::from(number))
    };
    for number in (2..40).step_by(2) {
        let (former, update) = (version(number), version(number + 1));
        stores.resources.store(acme, former.clone(), at(0)).await?;
        let meant = Preconditions::Checksum(vec![former.checksum]);
        let (outcome, stored_update) = futures_util::future::join(
            stores.resources.delete(acme, resource_guid(1), meant, at(0)),
            stores.resources.store(acme, update.clone(), at(0)),
        )
        .await;
        let outcome = outcome?;
        assert_eq!(stored_update?, StoreOutcome::Stored);
        assert!(matches!(outcome, DeleteOutcome::Deleted | DeleteOutcome::OtherState(_)), "{outcome:?}");
        assert_eq!(stores.resources.find(acme, resource_guid(1)).await?, Some(stored(acme, update)));
    }
    Ok(())
}

/// Decision O3: only records of its own organization hold a resource.
pub async fn uses_of_another_organization_do_not_hold_a_resource(stores: &Stores) -> Kept {
    let (_, zenith) = two_organizations(stores).await?;
    for (number, guid) in [(1, acme_records().used_by_queue), (2, acme_records().used_by_job)] {
        stores.resources.store(zenith, NewResource { guid, ..a_resource(number) }, at(0)).await?;
        assert_eq!(stores.resources.delete(zenith, guid, Preconditions::None, at(0)).await?, DeleteOutcome::Deleted);
    }
    Ok(())
}

/// Decision O2: `uses` replaces the former one, and what it no longer names is free.
pub async fn a_use_that_was_replaced_no_longer_holds_a_resource(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let used = NewResource { guid: acme_records().used_by_queue, ..a_resource(1) };
    stores.resources.store(acme, used.clone(), at(0)).await?;
    let queue = Queue { guid: acme_records().queue, name: None, device: None, uses: Some(vec![resource_guid(9)]) };
    let changed = FleetOrganization { name: ACME.to_owned(), queues: vec![queue], ..FleetOrganization::default() };
    register(stores, changed).await?;
    assert_eq!(stores.resources.delete(acme, used.guid, Preconditions::None, at(0)).await?, DeleteOutcome::Deleted);
    stores.resources.store(acme, NewResource { guid: resource_guid(9), ..a_resource(2) }, at(0)).await?;
    let outcome = stores.resources.delete(acme, resource_guid(9), Preconditions::None, at(0)).await?;
    assert_eq!(outcome, DeleteOutcome::InUse { by: "queue \"Banner\"".to_owned() });
    Ok(())
}

/// Decision O3.
pub async fn a_resource_in_use_can_be_updated(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let guid = acme_records().used_by_queue;
    stores.resources.store(acme, NewResource { guid, ..a_resource(1) }, at(0)).await?;
    let newer = NewResource { guid, modified: at(1), ..a_resource(2) };
    assert_eq!(stores.resources.store(acme, newer, at(0)).await?, StoreOutcome::Stored);
    Ok(())
}

/// A deletion leaves no Timestamp: the GUID is free for any resource.
pub async fn a_deleted_resource_can_be_added_again_with_an_older_timestamp(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, NewResource { modified: at(9), ..a_resource(1) }, at(0)).await?;
    stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?;
    let older = NewResource { guid: resource_guid(1), modified: at(1), ..a_resource(2) };
    assert_eq!(stores.resources.store(acme, older.clone(), at(0)).await?, StoreOutcome::Stored);
    assert_eq!(stores.resources.find(acme, older.guid).await?, Some(stored(acme, older)));
    Ok(())
}

/// Of many calls that delete one resource exactly one does.
pub async fn of_concurrent_deletions_exactly_one_deletes(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    let calls = (0..50).map(|_| stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)));
    let outcomes = try_join_all(calls).await?;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == DeleteOutcome::Deleted).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == DeleteOutcome::NotFound).count(), 49);
    assert_eq!(stores.ledger.discarded_before(at(1), 10).await?, [a_blob_key(1)]);
    Ok(())
}

/// Updates and deletions at once: every blob ends either current or discarded.
pub async fn concurrent_updates_and_deletions_lose_no_blob(stores: &Stores) -> Kept {
    let acme = organizations(stores, &[false]).await?[0];
    let calls = (1..=40_u32).map(|number| async move {
        let update = NewResource { guid: resource_guid(1), modified: at(number.into()), ..a_resource(number.into()) };
        let key = update.content.key.clone();
        let landed = stores.resources.store(acme, update, at(0)).await? == StoreOutcome::Stored;
        if number % 4 == 0 {
            stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?;
        }
        Ok::<_, crate::error::StoreError>(landed.then_some(key))
    });
    let mut expected: Vec<_> = try_join_all(calls).await?.into_iter().flatten().collect();
    let current = stores.resources.find(acme, resource_guid(1)).await?.map(|found| found.content.key);
    let mut accounted = stores.ledger.discarded_before(at(1), 100).await?;
    accounted.extend(current);
    accounted.sort();
    expected.sort();
    assert_eq!(accounted, expected);
    Ok(())
}

/// A write that was begun runs to its end, even if its caller goes away.
pub async fn a_deletion_that_was_begun_ends_without_its_caller(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    drop(stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).now_or_never());
    let gone = async || Ok(stores.resources.find(acme, resource_guid(1)).await?.is_none());
    assert!(at_last(gone).await?, "the deletion was lost");
    Ok(())
}
