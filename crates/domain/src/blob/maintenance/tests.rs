//! The sweep of discarded blobs (decision T18) and the check of the blob store.

use super::*;
use crate::blob::{ByteStream, MockBlobLedger, MockBlobStore};
use crate::checksum::Sha1Checksum;
use crate::testing::{FixedClock, a_blob_key, at};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use futures_util::stream;
use mockall::{Sequence, predicate};
use std::collections::HashSet;

const GRACE: Duration = Duration::from_hours(1);

fn maintenance(blobs: MockBlobStore, ledger: MockBlobLedger) -> BlobMaintenance {
    BlobMaintenance::new(Arc::default(), Arc::new(blobs), Arc::new(ledger), Arc::new(FixedClock::default()), GRACE)
}

fn reference(number: u128, content: &[u8]) -> BlobReference {
    BlobReference {
        key: a_blob_key(number),
        size: content.len() as u64,
        checksum: Sha1Checksum::of(content),
        owner: format!("resource {number}"),
    }
}

/// Asked once whether a record refers to the blob of this number.
fn expect_referenced(ledger: &mut MockBlobLedger, number: u128, is_referenced: bool) {
    let is_it = move |keys: &[BlobKey]| keys == [a_blob_key(number)];
    let answer = move |keys: &[BlobKey]| Ok(keys.iter().filter(|_| is_referenced).cloned().collect());
    ledger.expect_referenced().withf(is_it).once().returning(answer);
}

/// A ledger none of whose discarded blobs a record refers to.
fn ledger_of_discarded() -> MockBlobLedger {
    let mut ledger = MockBlobLedger::new();
    ledger.expect_referenced().returning(|_| Ok(HashSet::new()));
    ledger
}

/// The blob of this number, and no other, is postponed to the present.
fn expect_postponed(ledger: &mut MockBlobLedger, number: u128) {
    let is_it = move |keys: &[BlobKey], when: &Timestamp| keys == [a_blob_key(number)] && *when == at(0);
    ledger.expect_postpone().withf(is_it).once().returning(|_, _| Ok(()));
}

/// A content in pieces of two bytes.
fn in_pieces(content: &'static [u8]) -> ByteStream {
    stream::iter(content.chunks(2).map(|piece| Ok(Bytes::from_static(piece)))).boxed()
}

fn entry(number: u128, age: Duration) -> BlobEntry {
    BlobEntry { key: a_blob_key(number), size: 1, modified: at(0).minus(age) }
}

/// A blob store that holds `contents`, each a number and its bytes, and lists `entries`.
fn blobs(contents: &'static [(u128, &'static [u8])], entries: Vec<BlobEntry>) -> MockBlobStore {
    let mut blobs = MockBlobStore::new();
    blobs.expect_read().withf(|_, range| range.is_none()).returning(|key, _| {
        let found = contents.iter().find(|(number, _)| a_blob_key(*number) == *key);
        Ok(found.map(|(_, content)| in_pieces(content)))
    });
    blobs.expect_list().return_once(move || stream::iter(entries.into_iter().map(Ok)).boxed());
    blobs
}

/// A ledger of these claims, which knows the blobs of these numbers.
fn ledger(references: Vec<BlobReference>, known: &'static [u128]) -> MockBlobLedger {
    let mut ledger = MockBlobLedger::new();
    ledger.expect_references().return_once(move || stream::iter(references.into_iter().map(Ok)).boxed());
    ledger.expect_known().returning(|keys| {
        let known: HashSet<BlobKey> = known.iter().copied().map(a_blob_key).collect();
        Ok(keys.iter().filter(|key| known.contains(key)).cloned().collect())
    });
    ledger
}

async fn check(blobs: MockBlobStore, ledger: MockBlobLedger, repair: bool) -> (CheckReport, Vec<Finding>) {
    let mut findings = Vec::new();
    let report = maintenance(blobs, ledger).check(repair, |finding| findings.push(finding.clone())).await.unwrap();
    (report, findings)
}

/// Decision T18: only what was discarded longer than the grace period ago.
#[tokio::test]
async fn the_sweep_asks_for_what_is_older_than_the_grace_period() {
    let mut ledger = MockBlobLedger::new();
    ledger
        .expect_discarded_before()
        .with(predicate::eq(at(-3_600)), predicate::eq(500))
        .once()
        .returning(|_, _| Ok(Vec::new()));
    assert_eq!(maintenance(MockBlobStore::new(), ledger).sweep().await.unwrap(), 0);
}

/// A blob is forgotten only after it was removed, and batches follow until nothing is left.
#[tokio::test]
async fn the_sweep_removes_blobs_before_it_forgets_them() {
    let (mut blobs, mut ledger, mut order) = (MockBlobStore::new(), ledger_of_discarded(), Sequence::new());
    for batch in [vec![1, 2], vec![3], vec![]] {
        let keys: Vec<BlobKey> = batch.into_iter().map(a_blob_key).collect();
        let answer = keys.clone();
        ledger.expect_discarded_before().once().in_sequence(&mut order).return_once(|_, _| Ok(answer));
        for key in keys.clone() {
            let is_it = predicate::eq(key);
            blobs.expect_delete().with(is_it).once().in_sequence(&mut order).returning(|_| Ok(()));
        }
        if !keys.is_empty() {
            ledger
                .expect_forget()
                .withf(move |asked| asked == keys)
                .once()
                .in_sequence(&mut order)
                .returning(|_| Ok(()));
        }
    }
    assert_eq!(maintenance(blobs, ledger).sweep().await.unwrap(), 3);
}

/// What couldn't be removed stays in the table for the next sweep, and keeps no other: those of the next round are removed.
#[tokio::test]
async fn a_blob_that_cannot_be_removed_is_not_forgotten() {
    let (mut blobs, mut ledger) = (MockBlobStore::new(), ledger_of_discarded());
    let mut rounds = vec![vec![], vec![4], vec![1, 2, 3]];
    let round = move |_, _| Ok(rounds.pop().unwrap().into_iter().map(a_blob_key).collect());
    ledger.expect_discarded_before().times(3).returning(round);
    expect_postponed(&mut ledger, 2);
    blobs.expect_delete().with(predicate::eq(a_blob_key(4))).once().returning(|_| Ok(()));
    ledger.expect_forget().withf(|keys| keys == [a_blob_key(4)]).once().returning(|_| Ok(()));
    blobs.expect_delete().with(predicate::eq(a_blob_key(2))).once().returning(|_| Err(StoreError::other("disk")));
    blobs.expect_delete().times(2).returning(|_| Ok(()));
    let gone = |keys: &[BlobKey]| keys == [a_blob_key(1), a_blob_key(3)];
    ledger.expect_forget().withf(gone).once().returning(|_| Ok(()));
    assert!(maintenance(blobs, ledger).sweep().await.is_err());
}

/// Where nothing could be removed there is nothing to forget.
#[tokio::test]
async fn a_store_that_removes_nothing_is_not_asked_for_ever() {
    let (mut blobs, mut ledger) = (MockBlobStore::new(), ledger_of_discarded());
    ledger.expect_discarded_before().once().returning(|_, _| Ok(vec![a_blob_key(1)]));
    blobs.expect_delete().once().returning(|_| Err(StoreError::other("disk")));
    expect_postponed(&mut ledger, 1);
    ledger.expect_forget().never();
    assert!(maintenance(blobs, ledger).sweep().await.is_err());
}

/// The record of an upload whose outcome was in doubt may be committed after its blob was discarded.
#[tokio::test]
async fn a_discarded_blob_that_a_record_refers_to_stays() {
    let (mut blobs, mut ledger) = (MockBlobStore::new(), MockBlobLedger::new());
    ledger.expect_discarded_before().once().returning(|_, _| Ok(vec![a_blob_key(1), a_blob_key(2)]));
    ledger.expect_discarded_before().once().returning(|_, _| Ok(Vec::new()));
    ledger.expect_referenced().once().returning(|_| Ok(HashSet::from([a_blob_key(1)])));
    blobs.expect_delete().with(predicate::eq(a_blob_key(2))).once().returning(|_| Ok(()));
    ledger.expect_forget().withf(|keys| keys == [a_blob_key(1), a_blob_key(2)]).once().returning(|_| Ok(()));
    assert_eq!(maintenance(blobs, ledger).sweep().await.unwrap(), 1);
}

#[tokio::test]
async fn the_sweep_settles_the_contents_of_failed_uploads() {
    let mut ledger = ledger_of_discarded();
    ledger
        .expect_known()
        .withf(|keys| keys == [a_blob_key(1)])
        .once()
        .returning(|keys| Ok(keys.iter().cloned().collect()));
    ledger.expect_discarded_before().returning(|_, _| Ok(Vec::new()));
    let maintenance = maintenance(MockBlobStore::new(), ledger);
    maintenance.unsettled.add(&[a_blob_key(1)]);
    assert_eq!(maintenance.sweep().await.unwrap(), 0);
    assert_eq!(maintenance.sweep().await.unwrap(), 0, "it is settled");
}

#[tokio::test]
async fn the_sweep_of_orphans_removes_the_old_ones() {
    let entries = vec![entry(1, ORPHAN_AGE * 2), entry(2, ORPHAN_AGE), entry(3, ORPHAN_AGE * 2), entry(4, GRACE)];
    let mut blobs = blobs(&[], entries);
    blobs.expect_delete().with(predicate::eq(a_blob_key(1))).once().returning(|_| Ok(()));
    let swept = maintenance(blobs, ledger(Vec::new(), &[3, 4])).sweep_orphans().await.unwrap();
    assert_eq!(swept, OrphanSweep::Removed(1));
}

/// An orphan that can't be removed keeps no other.
#[tokio::test]
async fn the_sweep_of_orphans_goes_on_after_a_failure() {
    let old = [1, 2, 3].map(|number| entry(number, ORPHAN_AGE * 2));
    let known = [4, 5, 6].map(|number| entry(number, GRACE));
    let mut blobs = blobs(&[], old.into_iter().chain(known).collect());
    blobs.expect_delete().with(predicate::eq(a_blob_key(1))).once().returning(|_| Err(StoreError::other("disk")));
    blobs.expect_delete().times(2).returning(|_| Ok(()));
    maintenance(blobs, ledger(Vec::new(), &[4, 5, 6])).sweep_orphans().await.unwrap_err();
}

/// A database that knows next to nothing of a store is another one, or an old backup.
#[tokio::test]
async fn the_sweep_of_orphans_removes_nothing_if_most_blobs_are_unknown() {
    let entries = vec![entry(1, ORPHAN_AGE * 2), entry(2, ORPHAN_AGE * 2), entry(3, ORPHAN_AGE * 2)];
    let swept = maintenance(blobs(&[], entries), ledger(Vec::new(), &[3])).sweep_orphans().await.unwrap();
    assert_eq!(swept, OrphanSweep::Refused { orphans: 2, known: 1 });
}

/// A blob that its store knows to be broken is what the check is there to find.
#[tokio::test]
async fn a_blob_that_breaks_off_is_damaged() {
    let cut = || StoreError::Corrupt { what: "content", id: a_blob_key(1).to_string() };
    let broken = move || stream::iter([Ok(Bytes::from_static(b"bi")), Err(cut())]).boxed();
    let mut ledger_of_two = ledger(vec![reference(1, b"bits"), reference(2, b"sound")], &[]);
    expect_referenced(&mut ledger_of_two, 1, true);
    let mut store = MockBlobStore::new();
    store
        .expect_read()
        .with(predicate::eq(a_blob_key(1)), predicate::always())
        .returning(move |_, _| Ok(Some(broken())));
    store.expect_read().returning(|_, _| Ok(Some(in_pieces(b"sound"))));
    store.expect_list().return_once(|| stream::empty().boxed());
    let (report, findings) = check(store, ledger_of_two, false).await;
    assert_eq!(report, CheckReport { checked: 2, damaged: 1, ..CheckReport::default() });
    assert_eq!(findings, [Finding::Damaged(reference(1, b"bits"))]);
}

/// A blob store that is as the database says gives no finding.
#[tokio::test]
async fn a_sound_store_has_no_findings() {
    let (blobs, ledger) = (
        blobs(&[(1, b"content"), (2, b"")], vec![entry(1, Duration::ZERO), entry(2, GRACE)]),
        ledger(vec![reference(1, b"content"), reference(2, b"")], &[1, 2]),
    );
    let (report, findings) = check(blobs, ledger, true).await;
    assert_eq!(report, CheckReport { checked: 2, ..CheckReport::default() });
    assert_eq!(findings, []);
}

/// Operation: missing content and checksum mismatches; a wrong size is one as well.
#[tokio::test]
async fn missing_and_damaged_contents_are_found() {
    let references =
        || vec![reference(1, b"sound"), reference(2, b"gone"), reference(3, b"bits"), reference(4, b"cut")];
    let mut ledger = ledger(references(), &[]);
    for number in 2..=4 {
        expect_referenced(&mut ledger, number, true);
    }
    let blobs = blobs(&[(1, b"sound"), (3, b"bitz"), (4, b"cu")], Vec::new());
    let (report, findings) = check(blobs, ledger, true).await;
    assert_eq!(report, CheckReport { checked: 4, missing: 1, damaged: 2, ..CheckReport::default() });
    let [_, gone, bits, cut] = references().try_into().unwrap();
    assert_eq!(findings, [Finding::Missing(gone), Finding::Damaged(bits), Finding::Damaged(cut)]);
}

/// A record that was replaced while the check ran is no finding.
#[tokio::test]
async fn a_claim_that_changed_meanwhile_is_no_finding() {
    let mut ledger = ledger(vec![reference(1, b"gone"), reference(2, b"bits")], &[]);
    expect_referenced(&mut ledger, 1, false);
    expect_referenced(&mut ledger, 2, false);
    let (report, findings) = check(blobs(&[(2, b"bitz")], Vec::new()), ledger, true).await;
    assert_eq!(report, CheckReport { checked: 2, ..CheckReport::default() });
    assert_eq!(findings, []);
}

/// Operation: without `--repair` orphans are reported and stay.
#[tokio::test]
async fn orphans_are_reported_and_stay_without_repair() {
    let orphan = || entry(2, ORPHAN_AGE * 2);
    let mut blobs = blobs(&[], vec![entry(1, ORPHAN_AGE * 2), orphan()]);
    blobs.expect_delete().never();
    let (report, findings) = check(blobs, ledger(Vec::new(), &[1]), false).await;
    assert_eq!(report, CheckReport { orphans: 1, ..CheckReport::default() });
    assert_eq!(findings, [Finding::Orphan { entry: orphan(), removed: false }]);
}

/// Operation: `--repair` removes orphans older than 24 hours; younger ones may belong to an upload.
#[tokio::test]
async fn repair_removes_orphans_older_than_a_day() {
    let entries = || {
        [
            entry(1, ORPHAN_AGE + Duration::from_micros(1)),
            entry(2, ORPHAN_AGE),
            entry(3, Duration::ZERO),
            entry(4, ORPHAN_AGE * 9),
        ]
    };
    let mut blobs = blobs(&[], entries().to_vec());
    blobs.expect_delete().with(predicate::eq(a_blob_key(1))).once().returning(|_| Ok(()));
    let (report, findings) = check(blobs, ledger(Vec::new(), &[4]), true).await;
    assert_eq!(report, CheckReport { orphans: 3, removed: 1, ..CheckReport::default() });
    let [old, day, new, _] = entries();
    let found = [(old, true), (day, false), (new, false)];
    assert_eq!(findings, found.map(|(entry, removed)| Finding::Orphan { entry, removed }));
}

/// The ledger is asked for at most 500 blobs at once.
#[tokio::test]
async fn blobs_are_asked_for_in_batches() {
    let mut ledger = MockBlobLedger::new();
    ledger.expect_references().return_once(|| stream::empty().boxed());
    let mut order = Sequence::new();
    for size in [500, 500, 1] {
        let of_size = move |keys: &[BlobKey]| keys.len() == size;
        let known = |keys: &[BlobKey]| Ok(keys.iter().cloned().collect());
        ledger.expect_known().withf(of_size).once().in_sequence(&mut order).returning(known);
    }
    let entries = (0..1_001).map(|number| entry(number, ORPHAN_AGE * 2)).collect();
    let (report, _) = check(blobs(&[], entries), ledger, true).await;
    assert_eq!(report, CheckReport::default());
}

/// A store that fails in the middle is an error, never a finding.
#[tokio::test]
async fn a_failing_store_is_an_error_and_no_finding() {
    let broken = |_: &BlobKey, _: Option<std::ops::Range<u64>>| -> Result<Option<ByteStream>, StoreError> {
        let pieces = [Ok(Bytes::from_static(b"con")), Err(StoreError::other("disk"))];
        Ok(Some(stream::iter(pieces).boxed()))
    };
    let mut blobs = MockBlobStore::new();
    blobs.expect_read().returning(broken);
    let ledger = ledger(vec![reference(1, b"content")], &[]);
    let outcome = maintenance(blobs, ledger).check(true, |finding| panic!("{finding:?}")).await;
    assert!(outcome.is_err());
}
