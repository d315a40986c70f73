//! What tests open databases with.

#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "postgres.rs"]
pub mod postgres;

use adapters_db::{Database, DatabaseConfig};
use domain::contract::{AuthoredFleet, Stores, fleet_author};
use postgres::Cluster;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A configuration as the server's defaults have it.
pub fn config(url: impl Into<String>) -> DatabaseConfig {
    DatabaseConfig {
        url: url.into(),
        max_connections: 16,
        timeout: Duration::from_secs(30),
        make_missing: true,
        sample_every: domain::device_history::SAMPLE_EVERY,
    }
}

/// An open database, closed and removed after the test.
pub struct TestDatabase {
    pub database: Database,
    pub url: String,
    pub folder: Option<TempDir>,
}

/// A database in a file.
pub async fn sqlite() -> TestDatabase {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}/platen.db", folder.path().display());
    open(url, Some(folder)).await
}

/// A database in memory.
pub async fn sqlite_memory() -> TestDatabase {
    open("sqlite::memory:".to_owned(), None).await
}

/// A database of the throwaway cluster.
pub async fn postgres() -> TestDatabase {
    let url = tokio::task::spawn_blocking(|| Cluster::shared().database()).await.unwrap();
    open(url, None).await
}

/// The database of a URL, brought up to date.
pub async fn open(url: String, folder: Option<TempDir>) -> TestDatabase {
    let database = Database::connect(&config(&url)).await.unwrap();
    database.migrate().await.unwrap();
    TestDatabase { database, url, folder }
}

impl TestDatabase {
    /// All ports over this database.
    pub fn stores(&self) -> Stores {
        Stores {
            resources: Arc::new(self.database.resources()),
            resource_catalog: Arc::new(self.database.resource_catalog()),
            logs: Arc::new(self.database.logs()),
            crash_reports: Arc::new(self.database.crash_reports()),
            crash_analyses: Arc::new(self.database.crash_analyses()),
            crash_groups: Arc::new(self.database.crash_groups()),
            crash_archive: Arc::new(self.database.crash_archive()),
            computers: Arc::new(self.database.computers()),
            search: Arc::new(self.database.search()),
            device_statuses: Arc::new(self.database.device_statuses()),
            device_history: Arc::new(self.database.device_history()),
            device_board: Arc::new(self.database.device_board()),
            overview: Arc::new(self.database.overview()),
            fleet_directory: Arc::new(self.database.fleet_directory()),
            fleet_registry: Arc::new(self.database.fleet_registry()),
            records: Arc::new(self.database.fleet_registry()),
            keys: Arc::new(self.database.fleet_registry()),
            credentials: Arc::new(self.database.credentials()),
            ledger: Arc::new(self.database.ledger()),
            refusals: Arc::new(self.database.refusals()),
            retention: Arc::new(self.database.retention()),
            inspection: Arc::new(self.database.inspection()),
            activity: Arc::new(self.database.activity()),
            timeline: Arc::new(self.database.timeline()),
            operators: Arc::new(self.database.operators()),
            setup: Arc::new(self.database.operators()),
            sessions: Arc::new(self.database.sessions()),
            tokens: Arc::new(self.database.tokens()),
            audit: Arc::new(self.database.audit()),
            authored_fleet: AuthoredFleet::of(self.database.fleet_registry().by(fleet_author())),
        }
    }
}
