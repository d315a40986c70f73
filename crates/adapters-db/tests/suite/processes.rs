//! Several processes over one database: here, databases that were opened one by one.

use crate::support::{TestDatabase, config, postgres, sqlite};
use adapters_db::Database;
use domain::access::{CredentialDigest, CredentialDirectory};
use domain::blob::{BlobLedger, BlobMaintenance, Uploads};
use domain::caller::OrganizationId;
use domain::clock::Clock;
use domain::device_status::{DeviceStatus, DeviceStatusRepository};
use domain::fleet::{Fleet, FleetOrganization, FleetRegistry, NewKey, Queue, Secret};
use domain::guid::{DeviceGuid, QueueGuid};
use domain::log_entry::{LogFilter, LogRepository, NewLogEntry, Pattern};
use domain::resource::{DeleteOutcome, NewResource, Preconditions, ResourceRepository, StoreOutcome, StoredContent};
use domain::retention::{RemovalOutcome, RetentionRepository};
use domain::testing::{
    ACME as ACME_NAME, CountingIds, FixedClock, InMemoryBlobs, a_blob_key, a_fleet, a_log_entry, a_resource, a_status,
    at, numbered, resource_guid,
};
use domain::timestamp::Timestamp;
use futures_util::future::{join, join_all};
use futures_util::{FutureExt, TryStreamExt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ACME: OrganizationId = OrganizationId(1);

/// Both engines, each opened three times.
async fn engines() -> Vec<(TestDatabase, Vec<Database>)> {
    let mut engines = Vec::new();
    for test in [sqlite().await, postgres().await] {
        let mut processes = vec![test.database.clone()];
        for _ in 0..2 {
            processes.push(Database::connect(&config(&test.url)).await.unwrap());
        }
        engines.push((test, processes));
    }
    engines
}

/// The numbers 1 to 200 in an order that is neither rising nor falling.
fn shuffled() -> impl Iterator<Item = i64> {
    (0..200).map(|place| place * 73 % 200 + 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_200_concurrent_updates_the_newest_stays_and_exactly_the_others_are_discarded() {
    for (_test, processes) in engines().await {
        let writes = shuffled().zip((0..3).cycle()).map(|(number, process)| {
            let repository = processes[process].resources();
            async move {
                let key = a_blob_key(number.unsigned_abs().into());
                let content = StoredContent { key: key.clone(), size: 16 };
                let update = NewResource { modified: at(number), content, ..a_resource(1) };
                let stored = repository.store(ACME, update, at(1000)).await.unwrap();
                (stored == StoreOutcome::Stored).then_some(key)
            }
        });
        let mut stored: BTreeSet<_> = join_all(writes).await.into_iter().flatten().collect();
        let current = processes[0].resources().find(ACME, resource_guid(1)).await.unwrap().unwrap();
        assert_eq!((current.modified, &current.content.key), (at(200), &a_blob_key(200)));
        assert!(stored.remove(&current.content.key));
        let discarded = processes[1].ledger().discarded_before(at(1001), 1000).await.unwrap();
        assert_eq!(discarded.iter().cloned().collect::<BTreeSet<_>>(), stored);
        assert_eq!(discarded.len(), stored.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_status_received_wins_whichever_process_received_it() {
    let device = DeviceGuid::from(numbered(1));
    for (_test, processes) in engines().await {
        let writes = shuffled().zip((0..3).cycle()).map(|(number, process)| {
            let repository = processes[process].device_statuses();
            let received = Timestamp::from_micros(at(0).as_micros() + number);
            let status = DeviceStatus { received, message: Some(number.to_string()), ..a_status(device) };
            async move { repository.put(ACME, status).await.unwrap() }
        });
        join_all(writes).await;
        let last = processes[0].device_statuses().find(ACME, device).await.unwrap().unwrap();
        assert_eq!(last.message.as_deref(), Some("200"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statuses_of_many_devices_in_any_order_never_block_each_other() {
    for (_test, processes) in engines().await {
        let writes = (0..600_u64).map(|number| {
            // Each process takes the devices in an order of its own.
            let process = usize::try_from(number % 3).unwrap();
            let device = [number / 3, 199 - number / 3, number / 3 * 73 % 200][process];
            let repository = processes[process].device_statuses();
            let status = a_status(DeviceGuid::from(numbered(u128::from(device))));
            async move { repository.put(ACME, status).await }
        });
        for written in join_all(writes).await {
            written.unwrap();
        }
    }
}

/// Decision O3: whatever the order, a resource in use is there if it was there when its use began.
#[tokio::test(flavor = "multi_thread")]
async fn deletions_and_changes_of_use_at_once_follow_one_another() {
    for (_test, processes) in engines().await {
        let named = |uses| FleetOrganization {
            name: "Acme Print".to_owned(),
            queues: vec![Queue { guid: QueueGuid::from(numbered(7)), name: None, device: None, uses: Some(uses) }],
            ..FleetOrganization::default()
        };
        let unused = Fleet { organizations: vec![named(Vec::new())] };
        let used = Fleet { organizations: vec![named(vec![resource_guid(1)])] };
        processes[0].fleet_registry().apply(&unused, &[], at(0)).await.unwrap();
        let mut number = 0_u32;
        for _ in 0..25 {
            number += 1;
            let resource = NewResource { modified: at(number.into()), ..a_resource(1) };
            let content = StoredContent { key: a_blob_key(number.into()), size: 16 };
            processes[0].resources().store(ACME, NewResource { content, ..resource }, at(0)).await.unwrap();
            let (deleter, registry) = (processes[1].resources(), processes[2].fleet_registry());
            let (deletion, applied) = tokio::join!(
                deleter.delete(ACME, resource_guid(1), Preconditions::None, at(0)),
                registry.apply(&used, &[], at(0))
            );
            applied.unwrap();
            let is_there = processes[0].resources().find(ACME, resource_guid(1)).await.unwrap().is_some();
            assert_eq!(is_there, matches!(deletion.unwrap(), DeleteOutcome::InUse { .. }));
            let again = deleter.delete(ACME, resource_guid(1), Preconditions::None, at(0)).await.unwrap();
            assert_ne!(again, DeleteOutcome::Deleted);
            processes[0].fleet_registry().apply(&unused, &[], at(0)).await.unwrap();
            processes[0].resources().delete(ACME, resource_guid(1), Preconditions::None, at(0)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_write_that_was_begun_is_durable_though_its_caller_went_away() {
    for (_test, processes) in engines().await {
        let repository = processes[0].resources();
        assert!(repository.store(ACME, a_resource(1), at(0)).now_or_never().is_none());
        let logs = processes[0].logs();
        for number in 0..100 {
            assert!(logs.add(ACME, a_log_entry(&number.to_string())).now_or_never().is_none());
        }
        // Closing waits for what was begun; the other process sees it without any waiting of ours.
        processes[0].clone().close().await;
        assert!(processes[1].resources().find(ACME, resource_guid(1)).await.unwrap().is_some());
        let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
        let listed: Vec<_> = processes[1].logs().list(ACME, all).try_collect().await.unwrap();
        let listed: Vec<_> = listed.into_iter().map(|entry| entry.description).collect();
        assert_eq!(listed, (0..100).rev().map(|number| number.to_string()).collect::<Vec<_>>());
    }
}

/// Decision A6: five seconds at most; here the answers that are kept must run out by themselves.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_one_process_revokes_is_refused_by_the_others_within_five_seconds() {
    for (_test, processes) in engines().await {
        let (here, there) = (&processes[0], &processes[1]);
        let mis_key = Secret::new("a-key-of-sixteen-and-more".to_owned());
        let key = NewKey { organization: ACME_NAME.to_owned(), user: "Ann".to_owned(), mis_key };
        here.fleet_registry().apply(&a_fleet(), &[], at(0)).await.unwrap();
        here.fleet_registry().add_key(&key, at(1)).await.unwrap();
        let digest = CredentialDigest::of(key.mis_key.reveal());
        for process in [here, there] {
            assert!(process.credentials().find_key_holder(digest).await.unwrap().is_some());
        }
        here.fleet_registry().revoke_keys(ACME_NAME, "Ann", at(2)).await.unwrap();
        assert!(here.credentials().find_key_holder(digest).await.unwrap().is_none(), "at once where it was done");
        let since = Instant::now();
        while there.credentials().find_key_holder(digest).await.unwrap().is_some() {
            assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Each process removes as if it were alone, while entries arrive at all of them.
#[tokio::test(flavor = "multi_thread")]
async fn removals_at_once_remove_each_record_once_and_nothing_that_arrives() {
    for (_test, processes) in engines().await {
        let entry = |number: i64, time: i64| NewLogEntry { received: at(time), ..a_log_entry(&number.to_string()) };
        let add = |(number, time): (i64, i64)| {
            let logs = processes[usize::try_from(number % 3).unwrap()].logs();
            async move { logs.add(ACME, entry(number, time)).await.unwrap() }
        };
        join_all((0..600).map(|number| add((number, number % 7)))).await;
        let remove = async |process: &Database| {
            let (retention, mut from, mut all) = (process.retention(), None, 0);
            loop {
                match retention.remove_logs(at(7), from, 20).await.unwrap() {
                    RemovalOutcome::Elsewhere => {}
                    RemovalOutcome::Done { removed, rest: None } => return all + removed,
                    RemovalOutcome::Done { removed, rest } => (from, all) = (rest, all + removed),
                }
            }
        };
        let arriving = join_all((600..900).map(|number| add((number, 7 + number % 7))));
        let (_, removed) = join(arriving, join_all(processes.iter().map(remove))).await;
        assert_eq!(removed.iter().sum::<u64>(), 600, "{removed:?}");
        let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
        let kept: Vec<_> = processes[0].logs().list(ACME, all).try_collect().await.unwrap();
        let kept: BTreeSet<i64> = kept.into_iter().map(|entry| entry.description.parse().unwrap()).collect();
        assert_eq!(kept, (600..900).collect());
    }
}

/// However sweeps of several processes fall between updates and each other.
#[tokio::test(flavor = "multi_thread")]
async fn sweeps_at_once_remove_nothing_that_is_used() {
    for (_test, processes) in engines().await {
        let clock = Arc::new(FixedClock::stepping(at(1000), Duration::from_micros(1)));
        let blobs = InMemoryBlobs::new(clock.clone());
        let sweeper = |database: &Database| {
            let (blobs, ledger) = (Arc::new(blobs.clone()), Arc::new(database.ledger()));
            Uploads::new(blobs, ledger, clock.clone(), Arc::new(CountingIds::default())).maintenance(Duration::ZERO)
        };
        let sweepers: Vec<BlobMaintenance> = processes.iter().map(sweeper).collect();
        for (number, process) in (1..=60_i64).zip((0..3).cycle()) {
            let key = a_blob_key(u128::from(number.unsigned_abs()));
            blobs.put(&key, "content");
            let update = NewResource { modified: at(number), content: StoredContent { key, size: 7 }, ..a_resource(1) };
            let repository = processes[process].resources();
            let store = repository.store(ACME, update, clock.now());
            let (stored, swept) = join(store, join_all(sweepers.iter().map(BlobMaintenance::sweep))).await;
            assert_eq!(stored.unwrap(), StoreOutcome::Stored);
            assert!(swept.into_iter().all(|swept| swept.is_ok()));
            let current = repository.find(ACME, resource_guid(1)).await.unwrap().unwrap();
            assert!(blobs.content(&current.content.key).is_some(), "{number}");
        }
        join_all(sweepers.iter().map(BlobMaintenance::sweep)).await;
        assert_eq!(blobs.keys(), [a_blob_key(60)]);
    }
}
