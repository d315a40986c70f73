//! What happens to blobs when a store fails: those that a committed report may refer to stay.

use super::*;
use crate::blob::{BlobKey, MockBlobStore, MockBlobWriter};
use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use crate::sample::{is_store_failure, of_size};

/// A blob store whose first writer works and whose second fails, and which says what was deleted.
fn failing_blobs(in_finish: bool) -> (MockBlobStore, Arc<Mutex<Vec<BlobKey>>>) {
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
    let deleted = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&deleted);
    blobs.expect_delete().returning(move |key| {
        kept.lock().unwrap().push(key.clone());
        Ok(())
    });
    (blobs, deleted)
}

async fn add(
    reports: MockCrashReportRepository,
    blobs: impl BlobStore,
    ledger: MockBlobLedger,
    parts: Vec<InMemoryPart>,
) -> Outcome<Received> {
    let service = service(reports, Arc::new(blobs), Arc::new(ledger));
    service.add(&a_caller(ACME), &CrashHeaders::default(), &mut InMemoryParts::new(parts)).await
}

#[tokio::test]
async fn the_parts_stay_when_nobody_knows_whether_they_were_committed() {
    // Decision C4.
    let mut reports = MockCrashReportRepository::new();
    reports.expect_add().times(1).returning(|_, _| Err(StoreError::unavailable("the connection broke")));
    let blobs = InMemoryBlobs::default();
    let parts = vec![call_stack(b"main"), dump(b"x")];
    let outcome = add(reports, blobs.clone(), MockBlobLedger::new(), parts).await;
    assert!(is_store_failure(&outcome), "decision R4: {outcome:?}");
    assert_eq!(blobs.keys().len(), 2);
}

#[tokio::test]
async fn earlier_parts_are_removed_when_a_later_one_can_not_be_written() {
    for (in_finish, removed) in [(false, 1), (true, 2)] {
        let (blobs, deleted) = failing_blobs(in_finish);
        let parts = vec![call_stack(b"main"), dump(b"x")];
        let outcome = add(MockCrashReportRepository::new(), blobs, MockBlobLedger::new(), parts).await;
        assert!(is_store_failure(&outcome));
        let deleted = deleted.lock().unwrap();
        assert_eq!(deleted.len(), removed, "in finish: {in_finish}; it may have been published all the same");
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
        let mut ledger = MockBlobLedger::new();
        ledger
            .expect_discard()
            .times(1)
            .withf(|keys, now| keys.len() == 1 && *now == at(5))
            .returning(move |_, _| if the_ledger_works { Ok(()) } else { Err(StoreError::unavailable("no route")) });
        // Decision C6: the dump has to make room for a call stack that follows it.
        let large = InMemoryPart::named("dump").chunk(of_size(98));
        let (reports, asked) = storing();
        let received = add(reports, blobs, ledger, vec![large, call_stack(b"main")]).await.unwrap();
        assert!(received.note.is_some(), "the report is kept all the same");
        assert_eq!(asked.lock().unwrap().as_ref().unwrap().parts.len(), 1);
    }
}
