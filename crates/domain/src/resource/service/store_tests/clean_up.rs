//! What happens to blobs when a store fails (decision T13): one that a committed row may refer to is
//! never removed, any other always. After a failure the client doesn't wait for that: the sweep does it.

use super::*;
use crate::blob::{BlobKey, MockBlobStore, MockBlobWriter};
use crate::checksum::Sha1Checksum;
use crate::error::{StoreError, WriteError};
use crate::sample::is_store_failure;
use crate::timestamp::Timestamp;

fn broken() -> StoreError {
    StoreError::unavailable("the connection broke")
}

fn body() -> Vec<InMemoryPart> {
    vec![json_string(&described(b"content")), file(b"content")]
}

/// A blob store whose one writer fails in `finish` or `write`, and whose blobs are deleted `deletions` times.
fn failing_blobs(in_finish: bool, deletions: usize) -> MockBlobStore {
    let mut blobs = MockBlobStore::new();
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

/// A ledger that takes one blob in, discarded at `when`, or fails to.
fn ledger(when: Timestamp, works: bool) -> MockBlobLedger {
    let mut ledger = MockBlobLedger::new();
    ledger
        .expect_discard()
        .times(1)
        .withf(move |keys, now| keys.len() == 1 && *now == when)
        .returning(move |_, _| if works { Ok(()) } else { Err(StoreError::unavailable("no route")) });
    ledger
}

#[tokio::test]
async fn a_content_stays_when_nobody_knows_whether_it_was_committed() {
    let bench = Bench::new();
    let mut resources = MockResourceRepository::new();
    resources.expect_store().times(1).returning(|_, _, _| Err(WriteError::InDoubt(broken())));
    let outcome = bench.add(resources, None, body()).await;
    assert!(is_store_failure(&outcome), "decision R4: {outcome:?}");
    assert_eq!(bench.blobs.keys().len(), 1);
}

#[tokio::test]
async fn a_content_goes_when_there_was_no_room_for_its_resource() {
    let bench = Bench::new();
    let mut resources = MockResourceRepository::new();
    resources.expect_store().times(1).returning(|_, _, _| Err(StoreError::Overloaded.into()));
    let outcome = bench.add(resources, None, body()).await;
    assert_eq!(reason(outcome), Reason::Overloaded);
    assert!(bench.is_clean());
}

#[tokio::test]
async fn a_content_goes_at_once_when_its_resource_was_certainly_not_stored() {
    let bench = Bench::new();
    for _ in 0..8 {
        let mut resources = MockResourceRepository::new();
        resources.expect_store().times(1).returning(|_, _, _| Err(WriteError::NotStored(broken())));
        assert!(is_store_failure(&bench.add(resources, None, body()).await), "decision R4");
        assert!(bench.is_clean());
    }
}

/// Sends a body whose outcome is in doubt, or whose content can't be removed; then sweeps with this ledger.
async fn swept(error: WriteError, deletions: usize, ledger: MockBlobLedger) -> Result<u64, StoreError> {
    let mut resources = MockResourceRepository::new();
    resources.expect_store().times(1).return_once(|_, _, _| Err(error));
    let mut blobs = MockBlobStore::new();
    blobs.expect_create().times(1).returning(|_| {
        let mut writer = MockBlobWriter::new();
        writer.expect_write().returning(|_| Ok(()));
        writer.expect_finish().times(1).returning(|| Ok(Sha1Checksum::of(b"content")));
        Ok(Box::new(writer))
    });
    blobs.expect_delete().times(deletions).returning(|_| Err(StoreError::unavailable("no route")));
    let bench = Bench::new();
    let clock = Arc::new(bench.clock.clone());
    let uploads = Uploads::new(Arc::new(blobs), Arc::new(ledger), clock, Arc::new(CountingIds::default()));
    let service = ResourceService::new(Arc::new(resources), uploads.clone(), bench.limits);
    let outcome = service.store(&a_caller(ACME), None, &mut InMemoryParts::new(body()), &read_description).await;
    assert!(is_store_failure(&outcome));
    uploads.maintenance(std::time::Duration::ZERO).sweep().await
}

#[tokio::test]
async fn the_sweep_asks_what_became_of_a_content_that_is_in_doubt_or_can_not_be_removed() {
    for (error, deletions) in [(WriteError::InDoubt(broken()), 0), (WriteError::NotStored(broken()), 1)] {
        let mut ledger = MockBlobLedger::new();
        let all = |keys: &[BlobKey]| Ok(keys.iter().cloned().collect());
        ledger.expect_known().times(1).withf(|keys| keys.len() == 1).returning(all);
        ledger.expect_discarded_before().times(1).returning(|_, _| Ok(Vec::new()));
        assert_eq!(swept(error, deletions, ledger).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_content_that_a_first_try_has_committed_stays() {
    // The repository tried again after its first answer was lost, and met its own row.
    let bench = Bench::new();
    let (resources, _) = answering(|sent| StoreOutcome::NotNewer(Box::new(stored(ACME, sent.clone()))));
    assert!(bench.add(resources, None, body()).await.is_ok());
    assert_eq!(bench.blobs.keys().len(), 1);
}

#[tokio::test]
async fn a_write_that_fails_is_given_up_and_what_was_never_published_needs_no_removal() {
    let blobs = failing_blobs(false, 0);
    let service = Bench::new().service(MockResourceRepository::new(), Arc::new(blobs), Arc::new(MockBlobLedger::new()));
    let outcome = service.store(&a_caller(ACME), None, &mut InMemoryParts::new(body()), &read_description).await;
    assert!(is_store_failure(&outcome));
}

#[tokio::test]
async fn a_blob_whose_publication_failed_is_left_to_the_sweep_else_removed() {
    for (ledger_works, deletions) in [(true, 0), (false, 1)] {
        // With its grace period: the content may appear long after the failure was returned.
        let (blobs, ledger) = (failing_blobs(true, deletions), ledger(at(0), ledger_works));
        let service = Bench::new().service(MockResourceRepository::new(), Arc::new(blobs), Arc::new(ledger));
        let outcome = service.store(&a_caller(ACME), None, &mut InMemoryParts::new(body()), &read_description).await;
        assert!(is_store_failure(&outcome));
    }
}

#[tokio::test]
async fn a_blob_store_that_is_down_is_our_failure() {
    // Decision R4.
    let bench = Bench::new();
    bench.blobs.set_failing(true);
    let outcome = bench.add(MockResourceRepository::new(), None, body()).await;
    assert!(is_store_failure(&outcome));
}

#[tokio::test]
async fn what_can_not_be_removed_now_is_left_to_the_sweep() {
    for the_ledger_works in [true, false] {
        let mut blobs = MockBlobStore::new();
        blobs.expect_create().times(1).returning(|_| {
            let mut writer = MockBlobWriter::new();
            writer.expect_write().returning(|_| Ok(()));
            writer.expect_finish().returning(|| Ok(Sha1Checksum::of(b"other")));
            Ok(Box::new(writer))
        });
        blobs.expect_delete().times(1).returning(|_| Err(StoreError::unavailable("no route")));
        let ledger = ledger(Timestamp::from_micros(0), the_ledger_works);
        let service = Bench::new().service(MockResourceRepository::new(), Arc::new(blobs), Arc::new(ledger));
        let parts = vec![json_string(&described(b"content")), file(b"other")];
        let outcome = service.store(&a_caller(ACME), None, &mut InMemoryParts::new(parts), &read_description).await;
        assert_eq!(reason(outcome), Reason::ChecksumMismatch, "the client's mistake is answered all the same");
    }
}

#[tokio::test]
async fn an_accepted_update_removes_no_blob_itself() {
    // Decision T18: what it replaced is discarded by the repository, and swept after a grace period.
    let bench = Bench::new();
    let former = crate::testing::a_blob_key(999);
    bench.blobs.put(&former, "former");
    bench.add(storing().0, None, body()).await.unwrap();
    assert_eq!(bench.blobs.keys().len(), 2);
    assert!(bench.blobs.keys().contains(&former));
}
