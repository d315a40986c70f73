//! Removes old records in the background, in small batches with pauses, so that clients don't wait.

use domain::error::error_chain;
use domain::retention::{RetainedRecords, RetentionService};
use metering::{CounterHandle, catalog};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// When the first removal begins after the start, the time between two, and that after one that failed.
const FIRST_AFTER: Duration = Duration::from_secs(5);
const EVERY: Duration = Duration::from_hours(1);
const AGAIN_AFTER: Duration = Duration::from_mins(1);

/// Removes old records periodically.
pub(crate) async fn run(retention: RetentionService) {
    let meters = Meters::new();
    let mut pace = Pace::new();
    sleep(FIRST_AFTER).await;
    loop {
        let is_whole = remove(&retention, &meters, &mut pace).await;
        sleep(if is_whole { EVERY } else { AGAIN_AFTER }).await;
    }
}

/// Removes all records that are too old now; `false` if a step failed.
async fn remove(retention: &RetentionService, meters: &Meters, pace: &mut Pace) -> bool {
    let mut removed = Removed::default();
    let mut is_whole = true;
    let mut round = retention.begin();
    loop {
        let begun = Instant::now();
        match round.step(pace.limit).await {
            Ok(None) => return is_whole,
            Ok(Some((kind, count))) => {
                meters.of(kind).increment(count);
                *removed.of(kind) += count;
            }
            Err(error) => {
                is_whole = false;
                tracing::warn!(error = error_chain(&error), "cannot remove old records");
            }
        }
        sleep(pace.after(begun.elapsed())).await;
    }
}

struct Meters {
    log_entries: CounterHandle,
    crash_reports: CounterHandle,
    device_history: CounterHandle,
}

impl Meters {
    fn new() -> Self {
        let of = |kind: RetainedRecords| catalog::RETENTION_REMOVED.with([kind.as_str()]);
        Self {
            log_entries: of(RetainedRecords::Logs),
            crash_reports: of(RetainedRecords::CrashReports),
            device_history: of(RetainedRecords::DeviceHistory),
        }
    }

    fn of(&self, kind: RetainedRecords) -> &CounterHandle {
        match kind {
            RetainedRecords::Logs => &self.log_entries,
            RetainedRecords::CrashReports => &self.crash_reports,
            RetainedRecords::DeviceHistory => &self.device_history,
        }
    }
}

/// The records that one removal has removed; it logs them at its end, also if it is aborted.
#[derive(Default)]
struct Removed {
    log_entries: u64,
    crash_reports: u64,
    device_history: u64,
}

impl Removed {
    fn of(&mut self, kind: RetainedRecords) -> &mut u64 {
        match kind {
            RetainedRecords::Logs => &mut self.log_entries,
            RetainedRecords::CrashReports => &mut self.crash_reports,
            RetainedRecords::DeviceHistory => &mut self.device_history,
        }
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        let Self { log_entries, crash_reports, device_history } = *self;
        if log_entries + crash_reports + device_history > 0 {
            tracing::info!(log_entries, crash_reports, device_history, "removed old records");
        }
    }
}

/// How many records a batch removes at most. The duration of a batch is unknown beforehand, so the limit
/// follows from the last one.
struct Pace {
    limit: u64,
}

impl Pace {
    const FIRST: u64 = 64;
    const MOST: u64 = 1000;

    /// What a batch should take; less than half of it is too little, more than twice as much too long.
    const AIM: Duration = Duration::from_millis(50);

    /// Bounds of the pause after a batch.
    const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));

    fn new() -> Self {
        Self { limit: Self::FIRST }
    }

    /// Learns from a batch; the pause before the next one, which is twice as long as the batch took.
    fn after(&mut self, took: Duration) -> Duration {
        if took > Self::AIM * 2 {
            self.limit = (self.limit / 2).max(1);
        } else if took < Self::AIM / 2 {
            self.limit = (self.limit * 2).min(Self::MOST);
        }
        (took * 2).clamp(Self::PAUSE.0, Self::PAUSE.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::log_entry::{LogFilter, LogRepository, Pattern};
    use domain::retention::RetentionPolicy;
    use domain::testing::{FixedClock, InMemoryStore, a_log_entry, at};
    use futures_util::TryStreamExt;
    use std::sync::Arc;

    const ACME: OrganizationId = OrganizationId(1);

    /// Entries of two days ago for a service that keeps them for one.
    async fn old_entries(count: usize) -> (InMemoryStore, RetentionService) {
        let store = InMemoryStore::new();
        for _ in 0..count {
            store.add(ACME, a_log_entry("old")).await.unwrap();
        }
        let day = Duration::from_hours(24);
        let clock = FixedClock::stepping(at(2 * 86_400), Duration::from_micros(1));
        let policy = RetentionPolicy { logs: Some(day), crash_reports: Some(day), device_history: Some(day) };
        (store.clone(), RetentionService::new(Arc::new(store), Arc::new(clock), policy))
    }

    async fn kept(store: &InMemoryStore) -> usize {
        let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
        store.list(ACME, all).try_collect::<Vec<_>>().await.unwrap().len()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_removal_comes_soon_and_the_next_an_hour_later() {
        let (store, retention) = old_entries(100).await;
        let work = tokio::spawn(run(retention));
        sleep(FIRST_AFTER / 2).await;
        assert_eq!(kept(&store).await, 100);
        sleep(FIRST_AFTER).await;
        assert_eq!(kept(&store).await, 0);
        store.add(ACME, a_log_entry("old")).await.unwrap();
        sleep(EVERY / 2).await;
        assert_eq!(kept(&store).await, 1);
        sleep(EVERY / 2).await;
        assert_eq!(kept(&store).await, 0);
        work.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_failure_the_next_removal_comes_soon_and_goes_on() {
        let (store, retention) = old_entries(100).await;
        store.set_failing(true);
        let work = tokio::spawn(run(retention));
        sleep(FIRST_AFTER * 2).await;
        store.set_failing(false);
        assert_eq!(kept(&store).await, 100);
        sleep(AGAIN_AFTER).await;
        assert_eq!(kept(&store).await, 0);
        work.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_removal_ends_at_once_when_it_is_aborted() {
        let (store, retention) = old_entries(20_000).await;
        let work = tokio::spawn(run(retention));
        sleep(FIRST_AFTER + Pace::PAUSE.0 * 5).await;
        work.abort();
        assert!(work.await.unwrap_err().is_cancelled());
        let left = kept(&store).await;
        assert!(0 < left && left < 20_000, "{left}");
        sleep(EVERY * 2).await;
        assert_eq!(kept(&store).await, left);
    }

    #[test]
    fn slow_batches_get_smaller_and_quick_ones_larger_within_bounds() {
        let mut pace = Pace::new();
        assert_eq!(pace.after(Pace::AIM), Pace::AIM * 2);
        assert_eq!(pace.limit, Pace::FIRST);
        for _ in 0..20 {
            assert_eq!(pace.after(Duration::ZERO), Pace::PAUSE.0);
        }
        assert_eq!(pace.limit, Pace::MOST);
        assert_eq!(pace.after(Duration::from_secs(1)), Duration::from_secs(2));
        assert_eq!(pace.limit, Pace::MOST / 2);
        for _ in 0..20 {
            assert_eq!(pace.after(Duration::from_mins(1)), Pace::PAUSE.1);
        }
        assert_eq!(pace.limit, 1);
    }
}
