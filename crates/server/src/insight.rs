//! Analyzes crash reports in the background, a few at a time with pauses, so that clients don't wait (decision I7).

use domain::crash_analysis::{CrashAnalysisService, Progress};
use domain::error::error_chain;
use metering::{CounterHandle, catalog};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The pause while the queue is empty.
const IDLE_PAUSE: Duration = Duration::from_secs(1);

/// The pause after a round that failed.
const RETRY_PAUSE: Duration = Duration::from_secs(30);

/// Minimum and maximum of the pause while more reports wait. The pause is twice as long as the round before.
const BUSY_PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));

/// Analyzes the reports in the queue for ever. When the process ends, the next start or another process continues.
pub(crate) async fn run(analysis: CrashAnalysisService) {
    let meters = Meters::new();
    loop {
        let begun = Instant::now();
        let pause = match analysis.round().await {
            Ok(progress) => {
                meters.count(progress);
                if progress.has_more { (begun.elapsed() * 2).clamp(BUSY_PAUSE.0, BUSY_PAUSE.1) } else { IDLE_PAUSE }
            }
            Err(error) => {
                tracing::warn!(error = error_chain(&error), "cannot analyze crash reports");
                RETRY_PAUSE
            }
        };
        sleep(pause).await;
    }
}

struct Meters {
    grouped: CounterHandle,
    failed: CounterHandle,
    postponed: CounterHandle,
}

impl Meters {
    fn new() -> Self {
        let [grouped, failed, postponed] =
            ["grouped", "failed", "postponed"].map(|outcome| catalog::CRASH_ANALYSES.with([outcome]));
        Self { grouped, failed, postponed }
    }

    fn count(&self, progress: Progress) {
        self.grouped.increment(progress.analyzed);
        self.failed.increment(progress.failed);
        self.postponed.increment(progress.postponed);
        if progress.postponed > 0 {
            tracing::warn!(
                reports = progress.postponed,
                "cannot analyze some crash reports now; they are retried later"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::crash_analysis::CrashAnalysisRepository;
    use domain::crash_report::CrashReportRepository;
    use domain::minidump::{DumpFacts, DumpReader, DumpSource, UnreadDump};
    use domain::testing::{FixedClock, InMemoryBlobs, InMemoryStore, a_crash_report, at};
    use std::sync::Arc;

    struct NoDumps;

    #[async_trait::async_trait]
    impl DumpReader for NoDumps {
        fn version(&self) -> String {
            "none".to_owned()
        }

        async fn read(&self, _: DumpSource) -> Result<DumpFacts, UnreadDump> {
            Err(UnreadDump::Unreadable("none".to_owned()))
        }
    }

    /// Decision I7: after a failure it goes on.
    #[tokio::test(start_paused = true)]
    async fn reports_are_analyzed_as_they_come_also_after_a_failure() {
        let store = InMemoryStore::new();
        let clock = Arc::new(FixedClock::new(at(100)));
        let blobs = Arc::new(InMemoryBlobs::default());
        let service = CrashAnalysisService::new(Arc::new(store.clone()), blobs, Arc::new(NoDumps), clock);
        let work = tokio::spawn(run(service));
        for number in 0..20 {
            store.add(OrganizationId(1), a_crash_report(number)).await.unwrap();
        }
        sleep(IDLE_PAUSE * 2).await;
        assert_eq!(store.waiting().await.unwrap(), 0);
        store.add(OrganizationId(1), a_crash_report(20)).await.unwrap();
        store.set_failing(true);
        sleep(IDLE_PAUSE * 2).await;
        store.set_failing(false);
        assert_eq!(store.waiting().await.unwrap(), 1);
        sleep(RETRY_PAUSE * 2).await;
        assert_eq!(store.waiting().await.unwrap(), 0);
        work.abort();
    }
}
