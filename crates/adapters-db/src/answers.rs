//! What the database said of credentials and known records, so that warm requests need no trip to it (ADR 24).
//!
//! An answer counts for as long as the fleet stays as it is, "not found" included: each change gives it another version,
//! which is looked at once a second. Those who ask the same at the same time share one question. A failure is never kept.
//! Keys are digests and GUIDs, never a credential.

use domain::access::{CredentialDigest, KeyHolder, RegisteredComputer};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use metering::{CounterHandle, catalog};
use quick_cache::sync::Cache;
use std::hash::Hash;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a version counts. Decision A6 leaves 5 seconds until a change acts on every process; the rest is for the
/// question itself.
const UNCHANGED: Duration = Duration::from_secs(1);

/// How long an answer is kept at most, for those who change tables by hand: many times the minute in which a quiet RIP
/// calls.
const KEPT: Duration = Duration::from_mins(15);

/// Answers of each kind that are kept: 15 to 30 MB, also when somebody tries keys by the million.
const MOST: usize = 50_000;

/// The kinds of known records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RecordKind {
    Computer,
    Device,
    Queue,
    Job,
}

/// The number of changes that the fleet has seen. It is asked for before the answer that is kept under it: the answer may
/// be newer than the version, never older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FleetVersion(pub(crate) i64);

/// All answers that are kept.
pub(crate) struct Answers {
    current: Current,
    /// The latest version that was seen.
    latest: AtomicI64,
    pub(crate) key_holders: Kept<(FleetVersion, CredentialDigest), KeyHolder>,
    pub(crate) computers: Kept<(FleetVersion, CredentialDigest), RegisteredComputer>,
    pub(crate) records: Kept<(FleetVersion, OrganizationId, RecordKind, Uuid), String>,
}

impl Answers {
    pub(crate) fn new() -> Self {
        Self {
            current: Current::new(),
            latest: AtomicI64::new(i64::MIN),
            key_holders: Kept::new("mis_key", KEPT),
            computers: Kept::new("hardware_hash", KEPT),
            records: Kept::new("known_record", KEPT),
        }
    }

    /// The version as it was a second ago at most, else that which `ask` finds.
    pub(crate) async fn version(
        &self,
        ask: impl AsyncFnOnce() -> Result<Option<FleetVersion>, StoreError>,
    ) -> Result<Option<FleetVersion>, StoreError> {
        let version = self.current.get(ask).await?;
        if let Some(latest) = version
            && self.latest.load(Ordering::Relaxed) < latest.0
            && self.latest.fetch_max(latest.0, Ordering::Relaxed) < latest.0
        {
            // Answers of the versions before would take the places of those that are asked for now.
            self.key_holders.answers.retain(|(version, ..), _| *version >= latest);
            self.computers.answers.retain(|(version, ..), _| *version >= latest);
            self.records.answers.retain(|(version, ..), _| *version >= latest);
        }
        Ok(version)
    }

    /// Asks for the version anew: what this process changed acts in it at once.
    pub(crate) fn forget_version(&self) {
        self.current.forget();
    }
}

/// The version of the fleet. It is asked for with every look-up, so it is at hand without looking anything up.
struct Current {
    seen: Mutex<Seen>,
    /// Keeps nothing: those who ask at the same time share the answer, or the failure.
    questions: Kept<(), (FleetVersion, Instant)>,
}

/// A version, if any counts, and when it was asked for or forgotten.
#[derive(Clone, Copy)]
struct Seen(Option<FleetVersion>, Instant);

impl Current {
    fn new() -> Self {
        let seen = Mutex::new(Seen(None, Instant::now()));
        Self { seen, questions: Kept::new("fleet_version", Duration::ZERO) }
    }

    /// See [`Answers::version`].
    async fn get(
        &self,
        ask: impl AsyncFnOnce() -> Result<Option<FleetVersion>, StoreError>,
    ) -> Result<Option<FleetVersion>, StoreError> {
        let Seen(version, asked) = *self.seen();
        if version.is_some() && asked.elapsed() < UNCHANGED {
            self.questions.hits.increment(1);
            return Ok(version);
        }
        let question = async || {
            let asked = Instant::now();
            Ok(ask().await?.map(|version| (version, asked)))
        };
        let Some((version, asked)) = self.questions.get((), question).await? else {
            return Ok(None);
        };
        let mut seen = self.seen();
        // Who hears it late must not bring back what somebody has seen or forgotten since.
        if asked >= seen.1 {
            *seen = Seen(Some(version), asked);
        }
        Ok(Some(version))
    }

    fn forget(&self) {
        *self.seen() = Seen(None, Instant::now());
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Answer<V> {
    /// The age of an answer counts from its question: what it says was true then.
    asked: Instant,
    found: Result<Option<V>, Arc<StoreError>>,
}

impl<V> Answer<V> {
    /// Whether it may be told to those who ask now. A failure is for those alone who waited for it.
    fn counts(&self, lifetime: Duration) -> bool {
        self.found.is_ok() && self.asked.elapsed() < lifetime
    }
}

/// Answers of one kind.
pub(crate) struct Kept<K, V> {
    answers: Cache<K, Answer<V>>,
    lifetime: Duration,
    hits: CounterHandle,
    misses: CounterHandle,
}

impl<K, V> Kept<K, V>
where
    K: Hash + Eq + Clone,
    V: Clone,
{
    fn new(name: &str, lifetime: Duration) -> Self {
        let outcome = |outcome| catalog::CACHE_REQUESTS.with([name, outcome]);
        Self { answers: Cache::new(MOST), lifetime, hits: outcome("hit"), misses: outcome("miss") }
    }

    /// The answer that is kept for `key`, else that of `ask`, which nothing is spent on before.
    pub(crate) async fn get(
        &self,
        key: K,
        ask: impl AsyncFnOnce() -> Result<Option<V>, StoreError>,
    ) -> Result<Option<V>, StoreError> {
        let answer = match self.answers.get(&key).filter(|answer| answer.counts(self.lifetime)) {
            Some(answer) => {
                self.hits.increment(1);
                answer
            }
            // The future is large: it is moved to the heap once rather than through each layer.
            None => Box::pin(self.ask(&key, ask)).await,
        };
        answer.found.map_err(shared)
    }

    /// Asks, or waits for the answer of who asks already.
    async fn ask(&self, key: &K, ask: impl AsyncFnOnce() -> Result<Option<V>, StoreError>) -> Answer<V> {
        let forget = || self.answers.remove_if(key, |answer| !answer.counts(self.lifetime));
        forget();
        match self.answers.get_value_or_guard_async(key).await {
            Ok(answer) => {
                self.hits.increment(1);
                answer
            }
            Err(place) => {
                self.misses.increment(1);
                let asked = Instant::now();
                let answer = Answer { asked, found: ask().await.map_err(Arc::new) };
                // It goes to all who wait for it. Nobody can have taken the place.
                let _ = place.insert(answer.clone());
                forget();
                answer
            }
        }
    }
}

/// One failure told to all who waited for the same answer; its kind decides what becomes of the request.
fn shared(error: Arc<StoreError>) -> StoreError {
    match &*error {
        StoreError::Unavailable(_) => StoreError::unavailable(error),
        StoreError::Overloaded => StoreError::Overloaded,
        StoreError::Corrupt { what, id } => StoreError::Corrupt { what, id: id.clone() },
        StoreError::Other(_) => StoreError::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::sync::atomic::AtomicU32;

    const LONG: Duration = Duration::from_hours(1);

    async fn answered(times: &AtomicU32, found: Option<u32>) -> Result<Option<u32>, StoreError> {
        times.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Ok(found)
    }

    #[tokio::test]
    async fn an_answer_is_asked_for_once_found_or_not() {
        for found in [Some(7), None] {
            let (kept, times) = (Kept::new("mis_key", LONG), AtomicU32::new(0));
            for _ in 0..3 {
                let answers = join_all((0..20).map(|_| kept.get(1, || answered(&times, found)))).await;
                assert!(answers.into_iter().all(|answer| answer.unwrap() == found));
            }
            assert_eq!(times.into_inner(), 1);
        }
    }

    #[tokio::test]
    async fn a_failure_is_not_kept_and_keeps_its_kind() {
        let (kept, times) = (Kept::new("mis_key", LONG), AtomicU32::new(0));
        let failed = kept.get(1, async || Err(StoreError::unavailable("no route"))).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
        assert_eq!(kept.get(1, || answered(&times, Some(7))).await.unwrap(), Some(7));
    }

    #[tokio::test]
    async fn an_answer_ages_from_its_question() {
        let (kept, times) = (Kept::new("mis_key", Duration::from_millis(20)), AtomicU32::new(0));
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(40)).await;
            answered(&times, Some(7)).await
        };
        assert_eq!(kept.get(1, slow).await.unwrap(), Some(7));
        assert_eq!(kept.get(1, || answered(&times, Some(8))).await.unwrap(), Some(8));
    }

    #[tokio::test]
    async fn a_version_is_asked_for_once_by_all_who_need_it_and_again_after_a_second_a_change_or_a_failure() {
        let (answers, times) = (Answers::new(), AtomicU32::new(0));
        let ask = || async {
            let time = times.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            if time == 0 { Err(StoreError::unavailable("no route")) } else { Ok(Some(FleetVersion(time.into()))) }
        };
        let of_all = async || join_all((0..20).map(|_| answers.version(ask))).await;
        assert!(of_all().await.iter().all(Result::is_err), "the failure is of all");
        for asked in [1, 1] {
            let versions = of_all().await;
            assert!(versions.into_iter().all(|version| version.unwrap() == Some(FleetVersion(asked))));
        }
        answers.forget_version();
        assert_eq!(answers.version(ask).await.unwrap(), Some(FleetVersion(2)));
        let aged = Instant::now().checked_sub(UNCHANGED).unwrap();
        *answers.current.seen() = Seen(Some(FleetVersion(2)), aged);
        assert_eq!(answers.version(ask).await.unwrap(), Some(FleetVersion(3)));
    }

    #[tokio::test]
    async fn answers_of_former_versions_take_no_place() {
        let answers = Answers::new();
        for version in 1..4 {
            let version = answers.version(async || Ok(Some(FleetVersion(version)))).await.unwrap().unwrap();
            for key in 0..10 {
                let key = (version, CredentialDigest::of(&key.to_string()));
                assert!(answers.key_holders.get(key, async || Ok(None)).await.unwrap().is_none());
            }
            assert_eq!(answers.key_holders.answers.len(), 10);
            answers.forget_version();
        }
    }

    #[tokio::test]
    async fn a_version_that_was_asked_for_before_a_change_is_not_seen_after_it() {
        let current = Current::new();
        let mut late = Box::pin(current.get(async || {
            tokio::task::yield_now().await;
            Ok(Some(FleetVersion(1)))
        }));
        assert!(futures_util::poll!(&mut late).is_pending());
        current.forget();
        assert_eq!(late.await.unwrap(), Some(FleetVersion(1)));
        assert_eq!(current.get(async || Ok(Some(FleetVersion(2)))).await.unwrap(), Some(FleetVersion(2)));
    }

    #[tokio::test]
    async fn a_question_goes_on_when_who_asked_it_first_has_gone() {
        let (kept, times) = (Kept::new("mis_key", LONG), AtomicU32::new(0));
        let mut first = Box::pin(kept.get(1, std::future::pending));
        assert!(futures_util::poll!(&mut first).is_pending());
        drop(first);
        assert_eq!(kept.get(1, || answered(&times, Some(7))).await.unwrap(), Some(7));
    }
}
