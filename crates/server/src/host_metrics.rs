//! Metrics of this process and of the disks that it writes to.

use crate::config::Config;
use adapters_blob::BlobConfig;
use metering::{GaugeHandle, catalog};
use metrics_process::Collector;
use secrecy::ExposeSecret;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::interval;

const COLLECT_EVERY: Duration = Duration::from_secs(5);

/// Updates `process_*` and the free space of the disks for ever.
pub(crate) async fn run(mut host: HostMetrics) {
    let mut ticks = interval(COLLECT_EVERY);
    loop {
        ticks.tick().await;
        // A disk of the network may not answer: the blocking thread waits for it then.
        let Ok(collected) = spawn_blocking(move || {
            host.collect();
            host
        })
        .await
        else {
            return;
        };
        host = collected;
    }
}

pub(crate) struct HostMetrics {
    process: Collector,
    disks: Vec<Disk>,
}

/// A disk that the server can fill.
struct Disk {
    path: PathBuf,
    free: GaugeHandle,
}

impl HostMetrics {
    pub(crate) fn new(config: &Config) -> Self {
        let process = Collector::default();
        process.describe();
        let disk = |store, path: &Path| Disk { path: path.to_owned(), free: catalog::DISK_FREE.with([store]) };
        let blobs = match &config.blobs.place {
            BlobConfig::Local { path } => Some(disk("blobs", path)),
            BlobConfig::S3(_) | BlobConfig::Memory => None,
        };
        let database = config.database.url.expose_secret().strip_prefix("sqlite://");
        let disks = blobs.into_iter().chain(database.map(|path| disk("database", Path::new(path)))).collect();
        Self { process, disks }
    }

    /// Blocks while a disk doesn't answer.
    fn collect(&self) {
        self.process.collect();
        for disk in &self.disks {
            // A disk that can't be asked keeps its last value; readiness reports it.
            if let Ok(statistics) = rustix::fs::statvfs(&disk.path) {
                #[expect(clippy::cast_precision_loss, reason = "metrics are floating-point numbers")]
                disk.free.set(statistics.f_bavail.saturating_mul(statistics.f_frsize) as f64);
            }
        }
    }
}
