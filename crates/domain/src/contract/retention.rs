//! The clauses of [`crate::retention::RetentionRepository`].

use super::scene::{at_last, two_organizations};
use super::{Kept, Stores};
use crate::blob::{BlobKey, BlobKind};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::crash_report::{CrashPart, NewCrashReport, PartRole};
use crate::device_history::Period;
use crate::device_status::DeviceStatus;
use crate::error::StoreError;
use crate::guid::{CrashReportId, DeviceGuid};
use crate::log_entry::{LogFilter, NewLogEntry, Pattern};
use crate::retention::{RemovalCursor, RemovalOutcome};
use crate::testing::{a_blob_key, a_crash_report, a_log_entry, a_resource, a_status, at, numbered, resource_guid};
use crate::timestamp::Timestamp;
use futures_util::future::{join_all, try_join_all};
use futures_util::{FutureExt, TryStreamExt};
use std::collections::HashSet;

/// A microsecond before.
fn just_before(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.as_micros() - 1)
}

async fn log(stores: &Stores, organization: OrganizationId, received: Timestamp) -> Result<(), StoreError> {
    stores.logs.add(organization, NewLogEntry { received, ..a_log_entry(&received.precise()) }).await
}

/// Descriptions of the entries of an organization, the oldest first.
async fn logged(stores: &Stores, organization: OrganizationId) -> Result<Vec<String>, StoreError> {
    let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
    let listed: Vec<_> = stores.logs.list(organization, all).try_collect().await?;
    Ok(listed.into_iter().rev().map(|entry| entry.description).collect())
}

/// A report of so many parts, each of a blob of its own.
fn report(number: u128, received: Timestamp, parts: u128) -> NewCrashReport {
    let part = |part: u128| CrashPart {
        role: PartRole::Attachment,
        key: BlobKey::new(BlobKind::CrashReport, numbered(number * 10_000 + part)),
        checksum: Sha1Checksum::of(&part.to_be_bytes()),
        ..a_crash_report(number).parts.remove(0)
    };
    NewCrashReport { received, parts: (0..parts).map(part).collect(), ..a_crash_report(number) }
}

fn keys(report: &NewCrashReport) -> Vec<BlobKey> {
    report.parts.iter().map(|part| part.key.clone()).collect()
}

/// Removes log entries batch by batch to the end; the sizes of the batches.
async fn remove_logs(stores: &Stores, before: Timestamp, limit: u64) -> Result<Vec<u64>, StoreError> {
    let (mut from, mut batches) = (None, Vec::new());
    loop {
        match stores.retention.remove_logs(before, from, limit).await? {
            // Another one's batch is short.
            RemovalOutcome::Elsewhere => {}
            RemovalOutcome::Done { removed, rest } => {
                batches.push(removed);
                from = rest;
                if from.is_none() {
                    return Ok(batches);
                }
            }
        }
    }
}

async fn remove_reports(stores: &Stores, before: Timestamp, limit: u64) -> Result<u64, StoreError> {
    let (mut from, mut all) = (None, 0);
    loop {
        if let RemovalOutcome::Done { removed, rest } =
            stores.retention.remove_crash_reports(before, from, limit, at(500)).await?
        {
            assert!(removed <= limit);
            all += removed;
            from = rest;
            if from.is_none() {
                return Ok(all);
            }
        }
    }
}

/// Of every organization. What was received at the very moment stays.
pub async fn what_is_older_is_removed_and_nothing_younger(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let times = [at(-90_000_000), at(1), just_before(at(5)), at(5), at(6)];
    let mut reports = Vec::new();
    for (number, (time, owner)) in (1..).zip(times.into_iter().flat_map(|time| [(time, acme), (time, zenith)])) {
        log(stores, owner, time).await?;
        reports.push((owner, report(number, time, 2)));
        stores.crash_reports.add(owner, report(number, time, 2)).await?;
    }
    assert_eq!(remove_logs(stores, at(5), 100).await?.iter().sum::<u64>(), 6);
    assert_eq!(remove_reports(stores, at(5), 100).await?, 6);
    for owner in [acme, zenith] {
        assert_eq!(logged(stores, owner).await?, [at(5).precise(), at(6).precise()]);
    }
    for (owner, report) in reports {
        let found = stores.crash_reports.find(owner, report.id).await?;
        assert_eq!(found, (report.received >= at(5)).then_some(report));
    }
    Ok(())
}

/// Neither the other kind nor anything else that is as old.
pub async fn each_kind_is_removed_alone(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let device = DeviceGuid::from(numbered(0x0d01));
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.device_statuses.put(acme, a_status(device)).await?;
    stores.ledger.discard(&[a_blob_key(2)], at(0)).await?;
    log(stores, acme, at(0)).await?;
    stores.crash_reports.add(acme, report(1, at(0), 1)).await?;
    assert_eq!(remove_reports(stores, at(9), 100).await?, 1);
    assert_eq!(logged(stores, acme).await?.len(), 1);
    stores.crash_reports.add(acme, report(2, at(0), 1)).await?;
    assert_eq!(remove_logs(stores, at(9), 100).await?, [1]);
    assert!(stores.crash_reports.find(acme, report(2, at(0), 1).id).await?.is_some());
    assert!(stores.resources.find(acme, resource_guid(1)).await?.is_some());
    assert!(stores.device_statuses.find(acme, device).await?.is_some());
    assert!(stores.ledger.known(&[a_blob_key(2)]).await?.contains(&a_blob_key(2)));
    Ok(())
}

/// Decision I1: the last status is no history.
pub async fn old_history_of_devices_is_removed_and_their_status_stays(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let device = DeviceGuid::from(numbered(0x0d01));
    for (owner, seconds) in [(acme, 0), (acme, 400), (zenith, 100), (acme, 800), (zenith, 500)] {
        let status = DeviceStatus { received: at(seconds), ..a_status(device) };
        stores.device_statuses.put(owner, status).await?;
    }
    let (mut from, mut removed) = (None, 0);
    loop {
        let done = stores.retention.prune_device_history(at(500), from, 2).await?;
        let RemovalOutcome::Done { removed: batch, rest } = done else { continue };
        (from, removed) = (rest, removed + batch);
        if rest.is_none() {
            break;
        }
    }
    assert_eq!(removed, 3);
    let all = Period { from: at(0), to: at(900) };
    for (owner, seconds) in [(acme, 800), (zenith, 500)] {
        let samples: Vec<_> = stores.device_history.samples(owner, device, all, 10).try_collect().await?;
        assert_eq!(samples.iter().map(|sample| sample.at).collect::<Vec<_>>(), [at(seconds)]);
        let status = stores.device_statuses.find(owner, device).await?;
        assert_eq!(status.map(|status| status.received), Some(at(seconds)));
    }
    Ok(())
}

/// No batch is larger than was asked for, and none begins anew.
pub async fn batches_take_the_oldest_of_each_organization_in_turn(stores: &Stores) -> Kept {
    let (one, other) = two_organizations(stores).await?;
    let (first, second) = (one.min(other), one.max(other));
    // Five of equal times among them, more than a batch holds.
    for seconds in [3, 1, 2, 2, 2, 2, 2] {
        log(stores, first, at(seconds)).await?;
        log(stores, second, at(seconds)).await?;
    }
    let done = stores.retention.remove_logs(at(9), None, 3).await?;
    let RemovalOutcome::Done { removed: 3, rest: Some(rest) } = done else { panic!("{done:?}") };
    assert_eq!(logged(stores, first).await?.len(), 4);
    assert_eq!(logged(stores, second).await?.len(), 7);
    assert!(!logged(stores, first).await?.contains(&at(1).precise()));
    assert!(rest.organization == first && rest.received <= at(2), "{rest:?}");
    let (mut from, mut removed) = (Some(rest), 3);
    while let Some(place) = from {
        let RemovalOutcome::Done { removed: batch, rest } = stores.retention.remove_logs(at(9), from, 3).await? else {
            continue;
        };
        assert!(batch <= 3 && rest.is_none_or(|rest| rest >= place), "{batch} from {place:?} to {rest:?}");
        (from, removed) = (rest, removed + batch);
    }
    assert_eq!(removed, 14);
    // Records before the cursor aren't looked at.
    log(stores, first, at(1)).await?;
    let cursor = Some(RemovalCursor { organization: first, received: at(2) });
    let nothing = RemovalOutcome::Done { removed: 0, rest: None };
    assert_eq!(stores.retention.remove_logs(at(9), cursor, 3).await?, nothing);
    assert_eq!(remove_logs(stores, at(9), 3).await?, [1]);
    Ok(())
}

/// An empty database, and one in which all is young.
pub async fn a_batch_of_nothing_comes_to_an_end(stores: &Stores) -> Kept {
    for number in 1..=2 {
        assert_eq!(remove_logs(stores, at(0), 10).await?, [0]);
        assert_eq!(remove_reports(stores, at(0), 10).await?, 0);
        let (acme, _) = two_organizations(stores).await?;
        log(stores, acme, at(0)).await?;
        stores.crash_reports.add(acme, report(number, at(0), 1)).await?;
    }
    Ok(())
}

/// A batch may hold fewer of them; none is left.
pub async fn entries_of_a_mebibyte_are_removed(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let long = "ä".repeat(512 * 1024);
    for (seconds, owner) in [acme, zenith].into_iter().flat_map(|owner| (1..=9).map(move |seconds| (seconds, owner))) {
        let entry = NewLogEntry { received: at(seconds), description: long.clone(), ..a_log_entry("") };
        stores.logs.add(owner, entry).await?;
    }
    assert_eq!(remove_logs(stores, at(9), 100).await?.iter().sum::<u64>(), 16);
    for owner in [acme, zenith] {
        assert_eq!(logged(stores, owner).await?.len(), 1);
    }
    Ok(())
}

/// However many they are (decision C1 allows hundreds), and whatever of them a batch would hold.
pub async fn a_report_is_removed_with_all_its_parts(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let old = [report(1, at(1), 1000), report(2, at(2), 1000), report(3, at(3), 1), report(4, at(3), 0)];
    for old in &old {
        stores.crash_reports.add(acme, old.clone()).await?;
    }
    let young = report(5, at(9), 700);
    stores.crash_reports.add(zenith, young.clone()).await?;
    assert_eq!(remove_reports(stores, at(9), 100).await?, 4);
    for old in &old {
        assert_eq!(stores.crash_reports.find(acme, old.id).await?, None);
    }
    assert_eq!(stores.crash_reports.find(zenith, young.id).await?, Some(young.clone()));
    let claimed: Vec<_> = stores.ledger.references().try_collect().await?;
    let claimed: HashSet<BlobKey> = claimed.into_iter().map(|claim| claim.key).collect();
    assert!(claimed == keys(&young).into_iter().collect(), "claims are wrong");
    let discarded: HashSet<_> = stores.ledger.discarded_before(at(501), 10_000).await?.into_iter().collect();
    assert!(discarded == old.iter().flat_map(keys).collect(), "blobs are lost, or too many are discarded");
    Ok(())
}

/// Decision T18: their grace begins when they are removed.
pub async fn blobs_of_removed_reports_are_discarded_at_the_time_of_the_call(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let old = report(1, at(0), 2);
    stores.crash_reports.add(acme, old.clone()).await?;
    assert_eq!(remove_reports(stores, at(9), 10).await?, 1);
    assert_eq!(stores.ledger.discarded_before(at(500), 10).await?, []);
    let mut discarded = stores.ledger.discarded_before(at(501), 10).await?;
    discarded.sort_unstable();
    assert_eq!(discarded, keys(&old));
    Ok(())
}

/// Whatever of them a batch may look at; most have nothing that is old.
pub async fn thousands_of_organizations_are_gone_through(stores: &Stores) -> Kept {
    // Records name organizations by number; none is registered under these.
    let organizations = (1..=2_000).map(OrganizationId);
    let received = |id: OrganizationId| if id.0 % 100 == 0 { at(1) } else { at(9) };
    try_join_all(organizations.clone().map(|id| log(stores, id, received(id)))).await?;
    assert_eq!(remove_logs(stores, at(5), 7).await?.iter().sum::<u64>(), 20);
    for id in organizations.filter(|id| [1, 99, 100, 101, 2_000].contains(&id.0)) {
        assert_eq!(logged(stores, id).await?.len(), usize::from(received(id) == at(9)), "{id:?}");
    }
    Ok(())
}

/// With two callers at once, each record is counted once and each blob noted.
pub async fn concurrent_removals_remove_each_record_once(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let owner = |number: i64| if number % 2 == 0 { acme } else { zenith };
    try_join_all((0..200).map(|number| log(stores, owner(number), at(number)))).await?;
    let reports = (1..=60_i64).map(|number| (owner(number), report(number.unsigned_abs().into(), at(number), 2)));
    try_join_all(reports.map(|(owner, report)| stores.crash_reports.add(owner, report))).await?;
    let logs: u64 = try_join_all((0..4).map(|_| remove_logs(stores, at(190), 7))).await?.into_iter().flatten().sum();
    let reports: u64 = try_join_all((0..4).map(|_| remove_reports(stores, at(51), 3))).await?.into_iter().sum();
    assert_eq!((logs, reports), (190, 50));
    assert_eq!(logged(stores, acme).await?.len() + logged(stores, zenith).await?.len(), 10);
    assert_eq!(stores.ledger.discarded_before(at(501), 1_000).await?.len(), 100);
    Ok(())
}

/// The batch is completed even if its caller goes away.
pub async fn a_removal_that_was_begun_ends_without_its_caller(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let ids = 1..=20;
    join_all(ids.clone().map(|number| stores.crash_reports.add(acme, report(number, at(0), 2)))).await;
    drop(stores.retention.remove_crash_reports(at(9), None, 100, at(500)).now_or_never());
    let last = CrashReportId::from(numbered(20));
    let gone = async || Ok(stores.crash_reports.find(acme, last).await?.is_none());
    assert!(at_last(gone).await?, "the removal was given up");
    assert_eq!(stores.ledger.discarded_before(at(501), 1_000).await?.len(), 40);
    Ok(())
}
