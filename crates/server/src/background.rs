//! Background work of the server.

use crate::config::Config;
use crate::host_metrics::{self, HostMetrics};
use crate::refusals::prune;
use crate::{fleet_metrics, forecasts, insight, retention, wiring};
use adapters_db::Database;
use anyhow::Result;
use domain::access::KeyUses;
use domain::blob::{BlobMaintenance, BlobStore, OrphanSweep, Uploads};
use domain::error::error_chain;
use domain::fleet::KeyRegistry;
use domain::session::SessionService;
use metering::catalog;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};

/// Bounds of the time between two sweeps of discarded blobs.
const SWEEP_INTERVAL: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));

/// The sweep of orphans lists all content, so it is rare. An operator who started over a wrong database has an hour.
const FIRST_ORPHANS_AFTER: Duration = Duration::from_hours(1);
const ORPHANS_INTERVAL: Duration = Duration::from_hours(24);

/// Time between two writes of the last uses of keys.
const KEY_USES_INTERVAL: Duration = Duration::from_mins(1);

/// Time between two removals of ended sessions of operators.
const SESSIONS_INTERVAL: Duration = Duration::from_hours(1);

/// Time between two maintenance runs of the metrics recorder.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Starts the background work. It ends when the set is dropped. Each task may be stopped at any point; the next
/// start continues its work.
///
/// # Errors
/// The program's own file, which reads minidumps in a child process, isn't found.
pub(crate) fn start(
    config: &Config,
    database: &Database,
    blobs: &Arc<dyn BlobStore>,
    uploads: &Uploads,
    key_uses: &Arc<KeyUses>,
    metrics: PrometheusHandle,
) -> Result<JoinSet<()>> {
    let grace = config.blobs.discarded_grace;
    let maintenance = Arc::new(uploads.maintenance(grace));
    let mut work = JoinSet::new();
    work.spawn(sweep_unfinished(Arc::clone(blobs)));
    work.spawn(sweep_discarded(Arc::clone(&maintenance), sweep_period(grace)));
    work.spawn(sweep_orphans(maintenance));
    work.spawn(prune(Arc::new(database.refusals()), wiring::clock()));
    work.spawn(retention::run(wiring::retention(database, config.retention)));
    work.spawn(keep_key_uses(Arc::clone(key_uses), database.fleet_registry()));
    work.spawn(fleet_metrics::run(database.clone(), wiring::clock(), config.insight.silent_after));
    work.spawn(insight::run(wiring::crash_analysis(database, blobs, &config.insight)?));
    work.spawn(forecasts::run(wiring::forecasts(database)));
    work.spawn(host_metrics::run(HostMetrics::new(config)));
    work.spawn(async move {
        let mut ticks = interval(UPKEEP_INTERVAL);
        loop {
            ticks.tick().await;
            metrics.run_upkeep();
        }
    });
    Ok(work)
}

/// Stores periodically when keys were last used.
async fn keep_key_uses(uses: Arc<KeyUses>, keys: impl KeyRegistry) {
    let mut ticks = interval(KEY_USES_INTERVAL);
    loop {
        ticks.tick().await;
        store_key_uses(&uses, &keys).await;
    }
}

/// Stores when keys were last used.
pub(crate) async fn store_key_uses(uses: &KeyUses, keys: &dyn KeyRegistry) {
    if let Err(error) = uses.store(keys).await {
        tracing::warn!(error = error_chain(&error), "cannot store when keys were last used");
    }
}

/// Removes sessions of operators that have ended by time.
pub(crate) async fn prune_sessions(sessions: Arc<SessionService>) {
    let mut ticks = interval(SESSIONS_INTERVAL);
    loop {
        ticks.tick().await;
        if let Err(error) = sessions.prune().await {
            tracing::warn!(error = error_chain(&error), "cannot remove ended sessions of operators");
        }
    }
}

/// A grace period shorter than the usual time between sweeps asks for more of them.
fn sweep_period(grace: Duration) -> Duration {
    grace.clamp(SWEEP_INTERVAL.0, SWEEP_INTERVAL.1)
}

/// Removes what uploads of an earlier run left half-written. Once is enough: a running server
/// cleans up after itself.
async fn sweep_unfinished(blobs: Arc<dyn BlobStore>) {
    let removed = catalog::BLOBS_SWEPT.with(["unfinished"]);
    match blobs.sweep_unfinished().await {
        Ok(0) => {}
        Ok(swept) => {
            removed.increment(swept);
            tracing::info!(swept, "removed half-written content of an earlier run");
        }
        Err(error) => tracing::warn!(error = error_chain(&error), "cannot remove half-written content"),
    }
}

async fn sweep_discarded(maintenance: Arc<BlobMaintenance>, period: Duration) {
    let removed = catalog::BLOBS_SWEPT.with(["discarded"]);
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match maintenance.sweep().await {
            Ok(0) => {}
            Ok(swept) => {
                removed.increment(swept);
                tracing::info!(swept, "removed discarded content");
            }
            Err(error) => tracing::warn!(error = error_chain(&error), "cannot remove discarded content"),
        }
    }
}

/// Removes content that no record refers to, such as that of uploads that a crash cut off.
async fn sweep_orphans(maintenance: Arc<BlobMaintenance>) {
    let removed = catalog::BLOBS_SWEPT.with(["orphaned"]);
    let mut ticks = interval_at(Instant::now() + FIRST_ORPHANS_AFTER, ORPHANS_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match maintenance.sweep_orphans().await {
            Ok(OrphanSweep::Removed(0)) => {}
            Ok(OrphanSweep::Removed(swept)) => {
                removed.increment(swept);
                tracing::info!(swept, "removed content that no record refers to");
            }
            Ok(OrphanSweep::Refused { orphans, known }) => tracing::warn!(
                orphans,
                known,
                "most of the stored content belongs to no record: is this the right database? platen blobs check --repair \
                 removes such content"
            ),
            Err(error) => tracing::warn!(error = error_chain(&error), "cannot remove content that no record refers to"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_grace_is_swept_often_and_a_long_one_every_few_minutes() {
        assert_eq!(sweep_period(Duration::ZERO), Duration::from_secs(1));
        assert_eq!(sweep_period(Duration::from_secs(20)), Duration::from_secs(20));
        assert_eq!(sweep_period(Duration::from_hours(1)), Duration::from_mins(5));
    }
}
