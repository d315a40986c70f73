//! Credentials and known records from memory, so that most requests need no query for them (ADR 24).
//!
//! Entries are stored under the version of the fleet, which each change increments and which a process reads once a
//! second. "Not found" is cached too; a failure never is. Concurrent misses of one key share one query. Keys are digests
//! and GUIDs, never credentials.

use domain::access::{CredentialDigest, KeyHolder, RegisteredComputer};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use metering::{CounterHandle, catalog};
use moka::future::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The lifetime of a cached version after its query. The result of a query that took longer is not cached, so a version
/// is used for less than twice this time after the start of its query. Decision A6 allows 5 seconds until a change
/// takes effect.
const VERSION_LIFETIME: Duration = Duration::from_secs(1);

/// The lifetime of an entry. It bounds the effect of changes in SQL, which increment no version.
const ENTRY_LIFETIME: Duration = Duration::from_mins(15);

/// Entries of each kind: 15 to 30 MB, even if a client tries keys by the million.
const MAX_ENTRIES: u64 = 50_000;

/// The kinds of known records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RecordKind {
    Computer,
    Device,
    Queue,
    Job,
}

/// How many changes the fleet has seen. It is read before the entries that are stored under it, so an entry may be newer
/// than its version, but never older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FleetVersion(pub(crate) i64);

/// The cached part of the fleet.
pub(crate) struct FleetCache {
    /// The version and the start of its query, under the number of changes that this process has made.
    versions: Cache<u64, (FleetVersion, Instant)>,
    own_changes: AtomicU64,
    latest: AtomicI64,
    pub(crate) key_holders: LookupCache<(FleetVersion, CredentialDigest), KeyHolder>,
    pub(crate) computers: LookupCache<(FleetVersion, CredentialDigest), RegisteredComputer>,
    pub(crate) records: LookupCache<(FleetVersion, OrganizationId, RecordKind, Uuid), String>,
}

impl FleetCache {
    pub(crate) fn new() -> Self {
        Self {
            versions: Cache::builder().max_capacity(1).time_to_live(VERSION_LIFETIME).build(),
            own_changes: AtomicU64::new(0),
            latest: AtomicI64::new(i64::MIN),
            key_holders: LookupCache::new("mis_key"),
            computers: LookupCache::new("hardware_hash"),
            records: LookupCache::new("known_record"),
        }
    }

    /// The cached version, else what `query` reads.
    pub(crate) async fn version(
        &self,
        query: impl AsyncFnOnce() -> Result<FleetVersion, StoreError>,
    ) -> Result<FleetVersion, StoreError> {
        let key = self.own_changes.load(Ordering::Acquire);
        if let Some((version, _)) = self.versions.get(&key).await {
            return Ok(version);
        }
        // Boxed, since the future of a query is large and seldom needed.
        let dated = Box::pin(async {
            let started = Instant::now();
            query().await.map(|version| (version, started))
        });
        let (version, started) = self.versions.try_get_with(key, dated).await.map_err(shared)?;
        if started.elapsed() >= VERSION_LIFETIME {
            // A slow query must not keep an old version for longer.
            self.versions.invalidate(&key).await;
        }
        if self.latest.fetch_max(version.0, Ordering::Relaxed) < version.0 {
            // Entries of former versions are never read again.
            self.key_holders.entries.invalidate_all();
            self.computers.entries.invalidate_all();
            self.records.entries.invalidate_all();
        }
        Ok(version)
    }

    /// Invalidates the version, so that a change by this process takes effect at once. The result of a query that began
    /// before is not used.
    pub(crate) fn forget_version(&self) {
        self.own_changes.fetch_add(1, Ordering::Release);
    }
}

/// Lookups of one kind and what they found.
pub(crate) struct LookupCache<K, V> {
    entries: Cache<K, Option<V>>,
    hits: CounterHandle,
    misses: CounterHandle,
}

impl<K, V> LookupCache<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    fn new(name: &str) -> Self {
        let outcome = |outcome| catalog::CACHE_REQUESTS.with([name, outcome]);
        let entries = Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(ENTRY_LIFETIME).build();
        Self { entries, hits: outcome("hit"), misses: outcome("miss") }
    }

    /// What is cached for `key`, else what `query` finds.
    pub(crate) async fn get(
        &self,
        key: K,
        query: impl AsyncFnOnce() -> Result<Option<V>, StoreError>,
    ) -> Result<Option<V>, StoreError> {
        if let Some(found) = self.entries.get(&key).await {
            self.hits.increment(1);
            return Ok(found);
        }
        self.misses.increment(1);
        self.entries.try_get_with(key, Box::pin(query())).await.map_err(shared)
    }
}

/// One failure for all callers that shared the query.
pub(crate) fn shared(error: Arc<StoreError>) -> StoreError {
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

    async fn found(queries: &AtomicU32, found: Option<u32>) -> Result<Option<u32>, StoreError> {
        queries.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Ok(found)
    }

    #[tokio::test]
    async fn a_record_is_looked_up_once_found_or_not() {
        for expected in [Some(7), None] {
            let (cache, queries) = (LookupCache::new("mis_key"), AtomicU32::new(0));
            for _ in 0..3 {
                let all = join_all((0..20).map(|_| cache.get(1, || found(&queries, expected)))).await;
                assert!(all.into_iter().all(|found| found.unwrap() == expected));
            }
            assert_eq!(queries.into_inner(), 1);
        }
    }

    #[tokio::test]
    async fn a_failure_is_not_cached_and_keeps_its_kind() {
        let (cache, queries) = (LookupCache::new("mis_key"), AtomicU32::new(0));
        let failed = cache.get(1, async || Err(StoreError::unavailable("no route"))).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
        assert_eq!(cache.get(1, || found(&queries, Some(7))).await.unwrap(), Some(7));
    }

    #[tokio::test]
    async fn a_query_goes_on_when_its_first_caller_goes_away() {
        let (cache, queries) = (LookupCache::new("mis_key"), AtomicU32::new(0));
        let mut first = Box::pin(cache.get(1, std::future::pending));
        assert!(futures_util::poll!(&mut first).is_pending());
        drop(first);
        assert_eq!(cache.get(1, || found(&queries, Some(7))).await.unwrap(), Some(7));
    }

    #[tokio::test]
    async fn a_version_is_read_once_a_second_and_after_a_change_or_a_failure() {
        let (cache, queries) = (FleetCache::new(), AtomicU32::new(0));
        let query = || async {
            let number = queries.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            if number == 0 { Err(StoreError::unavailable("no route")) } else { Ok(FleetVersion(number.into())) }
        };
        let by_all = async || join_all((0..20).map(|_| cache.version(query))).await;
        assert!(by_all().await.iter().all(Result::is_err), "all callers share the failure");
        for expected in [1, 1] {
            assert!(by_all().await.into_iter().all(|version| version.unwrap() == FleetVersion(expected)));
        }
        cache.forget_version();
        assert_eq!(cache.version(query).await.unwrap(), FleetVersion(2));
        tokio::time::sleep(VERSION_LIFETIME).await;
        assert_eq!(cache.version(query).await.unwrap(), FleetVersion(3));
    }

    #[tokio::test]
    async fn a_version_from_before_a_change_is_not_used_after_it() {
        let cache = FleetCache::new();
        let mut late = Box::pin(cache.version(async || {
            tokio::task::yield_now().await;
            Ok(FleetVersion(1))
        }));
        assert!(futures_util::poll!(&mut late).is_pending());
        cache.forget_version();
        assert_eq!(late.await.unwrap(), FleetVersion(1));
        assert_eq!(cache.version(async || Ok(FleetVersion(2))).await.unwrap(), FleetVersion(2));
    }

    #[tokio::test]
    async fn a_version_counts_from_the_start_of_its_query() {
        let cache = FleetCache::new();
        let slow = async || {
            tokio::time::sleep(VERSION_LIFETIME).await;
            Ok(FleetVersion(1))
        };
        assert_eq!(cache.version(slow).await.unwrap(), FleetVersion(1));
        assert_eq!(cache.version(async || Ok(FleetVersion(2))).await.unwrap(), FleetVersion(2));
    }

    #[tokio::test]
    async fn entries_of_former_versions_go() {
        let cache = FleetCache::new();
        for number in 1..4 {
            let version = cache.version(async || Ok(FleetVersion(number))).await.unwrap();
            for key in 0..10 {
                let key = (version, CredentialDigest::of(&key.to_string()));
                assert!(cache.key_holders.get(key, async || Ok(None)).await.unwrap().is_none());
            }
            cache.key_holders.entries.run_pending_tasks().await;
            assert_eq!(cache.key_holders.entries.entry_count(), 10);
            cache.forget_version();
        }
    }
}
