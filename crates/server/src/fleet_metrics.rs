//! Metrics that the database knows: the devices of each organization, and the size of the database.

use adapters_db::Database;
use domain::clock::Clock;
use domain::error::{StoreError, error_chain};
use domain::inspection::{DeviceCount, InspectionRepository};
use metering::{GaugeHandle, catalog};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

const COUNT_EVERY: Duration = Duration::from_mins(1);

/// Updates the metrics once a minute. A device without a status for `silent_after` is silent (decision I3).
pub(crate) async fn run(database: Database, clock: Arc<dyn Clock>, silent_after: Duration) {
    let inspection = database.inspection();
    let mut gauges = DeviceGauges::default();
    let mut ticks = interval(COUNT_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let counted = inspection.count_devices(clock.now().minus(silent_after)).await;
        let updated = match counted {
            Ok(counts) => {
                gauges.show(&counts);
                show_size(&database).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = updated {
            tracing::warn!(error = error_chain(&error), "cannot update the metrics of devices and of the database");
        }
    }
}

async fn show_size(database: &Database) -> Result<(), StoreError> {
    catalog::DATABASE_SIZE.with([]).set(as_number(database.size().await?));
    Ok(())
}

/// The gauges that were set so far. One without a current count, such as that of a removed organization, is set to
/// zero.
#[derive(Default)]
struct DeviceGauges {
    by_status: BTreeMap<(String, String), GaugeHandle>,
    silent: BTreeMap<String, GaugeHandle>,
}

impl DeviceGauges {
    fn show(&mut self, counts: &[DeviceCount]) {
        let mut by_status: BTreeMap<_, u64> = self.by_status.keys().map(|key| (key.clone(), 0)).collect();
        let mut silent: BTreeMap<_, u64> = self.silent.keys().map(|key| (key.clone(), 0)).collect();
        for count in counts {
            let status =
                count.status.map_or_else(|| "never_seen".to_owned(), |status| status.as_str().to_ascii_lowercase());
            by_status.insert((count.organization.clone(), status), count.devices);
            *silent.entry(count.organization.clone()).or_default() += count.silent;
        }
        for ((organization, status), devices) in by_status {
            let gauge = catalog::DEVICES.with([&organization, &status]);
            self.by_status.entry((organization, status)).or_insert(gauge).set(as_number(devices));
        }
        for (organization, devices) in silent {
            let gauge = catalog::DEVICES_SILENT.with([&organization]);
            self.silent.entry(organization).or_insert(gauge).set(as_number(devices));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floating-point numbers")]
fn as_number(count: u64) -> f64 {
    count as f64
}
