//! What happens to blobs when a store fails: those that a committed report may refer to stay.

use super::*;
use crate::blob::{MockBlobStore, MockBlobWriter};
use crate::checksum::Sha1Checksum;
use crate::error::{Failure, StoreError, WriteError};
use crate::sample::{is_store_failure, of_size};
use crate::timestamp::Timestamp;
use mockall::Sequence;

/// A blob store whose first writer works and whose second fails, and whose blobs are deleted `deletions` times.
fn failing_blobs(in_finish: bool, deletions: usize) -> MockBlobStore {
    let mut blobs = MockBlobStore::new();
    blobs.expect_create().times(1).returning(|_| {
        let mut writer = MockBlobWriter::new();
        writer.expect_write().returning(|_| Ok(()));
        writer.expect_finish().times(1).returning(|| Ok(Sha1Checksum::of(b"content")));
        Ok(Box::new(writer))
    });
    blobs.expect_create().times(1).returning(move |_| {
        let mut writer = MockBlobWriter::new();
        if in_finish {
            writer.expect_write().returning(|_| Ok(()));
            writer.expect_finish().times(1).returning(|| Err(StoreError::other("the disk is full")));
        } else {
            writer.expect_write().times(1).returning(|_| Err(StoreError::other("the disk is full")));
            writer.expect_abort().times(1).returning(|| Err(StoreError::other("the disk is gone")));
        }
        Ok(Box::new(writer))
    });
    blobs.expect_delete().times(deletions).returning(|_| Ok(()));
    blobs
}

/// A ledger that takes blobs in one at a time, discarded at each of `times`, or fails to.
fn ledger(times: &[Timestamp], works: bool) -> MockBlobLedger {
    let (mut ledger, mut calls) = (MockBlobLedger::new(), Sequence::new());
    for when in times.iter().copied() {
        ledger
            .expect_discard()
            .times(1)
            .in_sequence(&mut calls)
            .withf(move |keys, now| keys.len() == 1 && *now == when)
            .returning(move |_, _| if works { Ok(()) } else { Err(StoreError::unavailable("no route")) });
    }
    ledger
}

async fn add(
    reports: MockCrashReportRepository,
    blobs: impl BlobStore,
    ledger: MockBlobLedger,
    parts: Vec<InMemoryPart>,
) -> Outcome<AcceptedReport> {
    let service = service(reports, Arc::new(blobs), Arc::new(ledger));
    service.add(&a_caller(ACME), AddCrashReport::default(), &mut InMemoryParts::new(parts)).await
}

#[tokio::test]
async fn the_parts_go_when_there_was_no_room_for_the_report() {
    let mut reports = MockCrashReportRepository::new();
    reports.expect_add().times(1).returning(|_, _| Err(StoreError::Overloaded.into()));
    let blobs = InMemoryBlobs::default();
    let parts = vec![call_stack(b"main"), dump(b"x")];
    let outcome = add(reports, blobs.clone(), MockBlobLedger::new(), parts).await;
    assert!(matches!(&outcome, Err(Failure::Refused(refusal)) if refusal.reason == Reason::Overloaded), "{outcome:?}");
    assert!(blobs.keys().is_empty());
}

#[tokio::test]
async fn the_parts_stay_when_nobody_knows_whether_they_were_committed() {
    // Decision C4.
    let mut reports = MockCrashReportRepository::new();
    reports.expect_add().times(1).returning(|_, _| Err(StoreError::unavailable("the connection broke").into()));
    let blobs = InMemoryBlobs::default();
    let parts = vec![call_stack(b"main"), dump(b"x")];
    let outcome = add(reports, blobs.clone(), MockBlobLedger::new(), parts).await;
    assert!(is_store_failure(&outcome), "decision R4: {outcome:?}");
    assert_eq!(blobs.keys().len(), 2);
}

#[tokio::test]
async fn the_parts_go_at_once_when_the_report_was_certainly_not_stored() {
    let full = || StoreError::unavailable("the disk is full");
    let mut reports = MockCrashReportRepository::new();
    reports.expect_add().times(1).returning(move |_, _| Err(WriteError::NotStored(full())));
    let blobs = InMemoryBlobs::default();
    let parts = vec![call_stack(b"main"), dump(b"x")];
    let outcome = add(reports, blobs.clone(), MockBlobLedger::new(), parts).await;
    assert!(is_store_failure(&outcome), "decision R4: {outcome:?}");
    assert!(blobs.keys().is_empty());
}

#[tokio::test]
async fn parts_are_left_to_the_sweep_when_one_can_not_be_written_else_removed() {
    let (now, long_ago) = (at(5), Timestamp::from_micros(0));
    for (in_finish, times) in [(false, vec![long_ago]), (true, vec![now, long_ago])] {
        for ledger_works in [true, false] {
            let blobs = failing_blobs(in_finish, if ledger_works { 0 } else { times.len() });
            let parts = vec![call_stack(b"main"), dump(b"x")];
            let outcome = add(MockCrashReportRepository::new(), blobs, ledger(&times, ledger_works), parts).await;
            assert!(is_store_failure(&outcome), "in finish: {in_finish}");
        }
    }
}

#[tokio::test]
async fn a_blob_store_that_is_down_is_our_failure() {
    // Decision R4.
    let blobs = InMemoryBlobs::default();
    blobs.set_failing(true);
    let outcome = add(MockCrashReportRepository::new(), blobs, MockBlobLedger::new(), vec![call_stack(b"main")]).await;
    assert!(is_store_failure(&outcome));
}

#[tokio::test]
async fn what_can_not_be_removed_now_is_left_to_the_sweep() {
    for the_ledger_works in [true, false] {
        let mut blobs = MockBlobStore::new();
        blobs.expect_create().returning(|_| {
            let mut writer = MockBlobWriter::new();
            writer.expect_write().returning(|_| Ok(()));
            writer.expect_finish().returning(|| Ok(Sha1Checksum::of(b"content")));
            Ok(Box::new(writer))
        });
        blobs.expect_delete().times(1).returning(|_| Err(StoreError::unavailable("no route")));
        let ledger = ledger(&[Timestamp::from_micros(0)], the_ledger_works);
        // Decision C6: the dump has to make room for a call stack that follows it.
        let large = InMemoryPart::named("dump").chunk(of_size(98));
        let (reports, asked) = storing();
        let received = add(reports, blobs, ledger, vec![large, call_stack(b"main")]).await.unwrap();
        assert!(received.note.is_some(), "the report is kept all the same");
        assert_eq!(asked.lock().unwrap().as_ref().unwrap().parts.len(), 1);
    }
}
