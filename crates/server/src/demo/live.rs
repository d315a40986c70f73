//! The demo goes on while it is served: printers send statuses, computers log.

use super::logs;
use super::story::Scene;
use crate::wiring;
use adapters_db::Database;
use domain::device_status::DeviceStatusService;
use domain::error::Failure;
use domain::fleet::FleetDirectory;
use domain::log_entry::LogService;
use fastrand::Rng;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Time between two statuses of a printer.
const EVERY: Duration = Duration::from_secs(10);

/// It is always a working day.
const HOUR: u32 = 11;

/// What goes on.
pub(crate) struct Live {
    scenes: Vec<Scene>,
    rng: Rng,
}

impl Live {
    pub(super) fn new(scenes: Vec<Scene>, rng: Rng) -> Self {
        Self { scenes, rng }
    }

    /// Runs until it is stopped.
    pub(crate) async fn run(mut self, database: Database) {
        let directory: Arc<dyn FleetDirectory> = Arc::new(database.fleet_directory());
        let statuses = Arc::new(database.device_statuses());
        let statuses = DeviceStatusService::new(statuses, Arc::clone(&directory), wiring::clock());
        let logs = LogService::new(Arc::new(database.logs()), directory, wiring::clock());
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            if let Err(error) = self.tick(&statuses, &logs).await {
                tracing::warn!(%error, "the demo can't go on now");
            }
        }
    }

    async fn tick(&mut self, statuses: &DeviceStatusService, logs: &LogService) -> Result<(), Failure> {
        let passed = EVERY.as_secs_f64() / 3_600.0;
        for scene in &mut self.scenes {
            let caller = scene.stations[0].at(1.0);
            for printer in &mut scene.printers {
                if let Some(status) = printer.next(&mut self.rng, passed, HOUR, 0.0) {
                    statuses.update(&caller, status?).await?;
                }
            }
            if self.rng.bool() {
                let station = &scene.stations[self.rng.usize(..scene.stations.len())];
                let entry = logs::entry(&mut self.rng, station, &scene.registered)?;
                logs.add(&station.at(1.0), entry).await?;
            }
        }
        Ok(())
    }
}
