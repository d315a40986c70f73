//! Contents of failed uploads that a record may refer to: the outcome of its commit is in doubt.

use super::{BlobKey, BlobLedger};
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Further keys are not remembered; the sweep of orphans finds them.
const MAX_KEYS: usize = 10_000;

/// A commit that was under way when the database didn't answer ends within this time after the database answers again.
const COMMIT_TIME: Duration = Duration::from_mins(1);

/// When contents count as discarded that no record has referred to: since no client downloads them, they need no grace
/// period.
pub(super) const WITHOUT_GRACE: Timestamp = Timestamp::EPOCH;

/// The contents that have to be settled, in memory.
#[derive(Default)]
pub(super) struct UnsettledBlobs {
    /// Key → when the ledger first didn't know it.
    keys: Mutex<HashMap<BlobKey, Option<Timestamp>>>,
}

impl UnsettledBlobs {
    /// Remembers contents until they are settled.
    pub(super) fn add(&self, keys: &[BlobKey]) {
        let mut known = self.lock();
        let room = MAX_KEYS.saturating_sub(known.len());
        known.extend(keys.iter().take(room).map(|key| (key.clone(), None)));
    }

    /// Looks each content up in the ledger. One that is known there is settled. One that stays unknown for a minute is
    /// entered as discarded; until then, its record may still be committed.
    ///
    /// # Errors
    /// The first failure of the ledger; what isn't settled stays remembered.
    pub(super) async fn settle(&self, ledger: &dyn BlobLedger, now: Timestamp) -> Result<(), StoreError> {
        let keys: Vec<BlobKey> = self.lock().keys().cloned().collect();
        if keys.is_empty() {
            return Ok(());
        }
        let known = ledger.known(&keys).await?;
        let (settled, unknown): (Vec<BlobKey>, Vec<_>) = keys.into_iter().partition(|key| known.contains(key));
        self.forget(&settled);
        let due = self.unknown_for_long(&unknown, now);
        if !due.is_empty() {
            ledger.discard(&due, WITHOUT_GRACE).await?;
            self.forget(&due);
        }
        Ok(())
    }

    /// Those of `keys` that the ledger has not known for [`COMMIT_TIME`].
    fn unknown_for_long(&self, keys: &[BlobKey], now: Timestamp) -> Vec<BlobKey> {
        let mut known = self.lock();
        let is_due = |key: &&BlobKey| {
            let since = known.get_mut(*key).map(|since| *since.get_or_insert(now));
            since.is_some_and(|since| since.plus(COMMIT_TIME) <= now)
        };
        keys.iter().filter(is_due).cloned().collect()
    }

    fn forget(&self, keys: &[BlobKey]) {
        let mut known = self.lock();
        for key in keys {
            known.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BlobKey, Option<Timestamp>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::MockBlobLedger;
    use crate::testing::{a_blob_key, at};
    use std::collections::HashSet;

    /// A ledger that is asked for the keys of these numbers and knows those of `known`.
    fn ledger(asked: &'static [u128], known: &'static [u128]) -> MockBlobLedger {
        let mut ledger = MockBlobLedger::new();
        let keys = |numbers: &[u128]| numbers.iter().copied().map(a_blob_key).collect::<HashSet<_>>();
        let is_asked = move |sent: &[BlobKey]| sent.iter().cloned().collect::<HashSet<_>>() == keys(asked);
        ledger.expect_known().times(1).withf(is_asked).returning(move |_| Ok(keys(known)));
        ledger
    }

    fn expect_discard(ledger: &mut MockBlobLedger, number: u128, works: bool) {
        let is_it = move |keys: &[BlobKey], when: &Timestamp| keys == [a_blob_key(number)] && *when == WITHOUT_GRACE;
        let answer = move |_: &[BlobKey], _| if works { Ok(()) } else { Err(StoreError::unavailable("no route")) };
        ledger.expect_discard().times(1).withf(is_it).returning(answer);
    }

    #[tokio::test]
    async fn a_content_with_a_record_stays_and_one_without_is_discarded_after_a_minute() {
        let unsettled = UnsettledBlobs::default();
        unsettled.add(&[a_blob_key(1), a_blob_key(2)]);
        unsettled.settle(&ledger(&[1, 2], &[1]), at(0)).await.unwrap();
        unsettled.settle(&ledger(&[2], &[]), at(59)).await.unwrap();
        let mut last = ledger(&[2], &[]);
        expect_discard(&mut last, 2, true);
        unsettled.settle(&last, at(60)).await.unwrap();
        unsettled.settle(&MockBlobLedger::new(), at(120)).await.unwrap();
    }

    #[tokio::test]
    async fn a_record_that_is_committed_late_keeps_its_content() {
        let unsettled = UnsettledBlobs::default();
        unsettled.add(&[a_blob_key(1)]);
        unsettled.settle(&ledger(&[1], &[]), at(0)).await.unwrap();
        unsettled.settle(&ledger(&[1], &[1]), at(90)).await.unwrap();
        unsettled.settle(&MockBlobLedger::new(), at(120)).await.unwrap();
    }

    #[tokio::test]
    async fn what_can_not_be_settled_is_tried_again() {
        let unsettled = UnsettledBlobs::default();
        unsettled.add(&[a_blob_key(1)]);
        let mut down = MockBlobLedger::new();
        down.expect_known().times(1).returning(|_| Err(StoreError::unavailable("no route")));
        unsettled.settle(&down, at(0)).await.unwrap_err();
        // The minute begins when the database answers.
        unsettled.settle(&ledger(&[1], &[]), at(60)).await.unwrap();
        let mut read_only = ledger(&[1], &[]);
        expect_discard(&mut read_only, 1, false);
        unsettled.settle(&read_only, at(120)).await.unwrap_err();
        let mut last = ledger(&[1], &[]);
        expect_discard(&mut last, 1, true);
        unsettled.settle(&last, at(125)).await.unwrap();
    }

    #[test]
    fn the_memory_for_keys_is_bounded() {
        let unsettled = UnsettledBlobs::default();
        for number in 0..MAX_KEYS + 10 {
            unsettled.add(&[a_blob_key(number as u128)]);
        }
        assert_eq!(unsettled.lock().len(), MAX_KEYS);
    }
}
