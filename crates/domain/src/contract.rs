//! What every implementation of a port must hold: one file for each port, one function for each
//! clause, the clause as its name.
//!
//! A clause gets an empty database of its own. [`store_contract!`](crate::store_contract) makes each
//! clause a test of one backend. A clause ends with an error where the port fails, and panics where
//! the port answers but breaks its contract.

#![expect(clippy::missing_panics_doc, reason = "every clause panics where the contract is broken")]

mod clauses;
mod operator_scene;
mod scene;

pub mod activity;
pub mod audit;
pub mod blob_store;
pub mod computer;
pub mod crash_analysis;
pub mod crash_archive;
pub mod crash_group;
pub mod crash_report;
pub mod credentials;
pub mod device_board;
pub mod device_history;
pub mod device_status;
pub mod fleet_conflicts;
pub mod fleet_directory;
pub mod fleet_keys;
pub mod fleet_records;
pub mod fleet_registry;
pub mod inspection;
pub mod inspection_computers;
pub mod inspection_crashes;
pub mod inspection_log_pages;
pub mod inspection_logs;
pub mod key_registry;
pub mod ledger;
pub mod log_entry;
pub mod log_filter;
pub mod operator;
pub mod overview;
pub mod refusal;
pub mod resource_catalog;
pub mod resource_delete;
pub mod resource_find;
pub mod resource_list;
pub mod resource_store;
pub mod retention;
pub mod search;
pub mod session;
pub mod setup;
pub mod timeline;
pub mod token;

use crate::access::CredentialDirectory;
use crate::activity::ActivityRepository;
use crate::audit::{AuditRepository, Author};
use crate::blob::BlobLedger;
use crate::computer::ComputerRepository;
use crate::crash_analysis::CrashAnalysisRepository;
use crate::crash_group::CrashGroupRepository;
use crate::crash_report::{CrashReportArchive, CrashReportRepository};
use crate::device_board::DeviceBoardRepository;
use crate::device_history::DeviceHistoryRepository;
use crate::device_status::DeviceStatusRepository;
use crate::fleet::{FleetAuthor, FleetDirectory, FleetRegistry, KeyRegistry, RecordRegistry};
use crate::inspection::InspectionRepository;
use crate::log_entry::LogRepository;
use crate::operator::{OperatorRepository, SetupRepository};
use crate::overview::OverviewRepository;
use crate::refusal::RefusalRepository;
use crate::resource::ResourceRepository;
use crate::resource_catalog::ResourceCatalog;
use crate::retention::RetentionRepository;
use crate::search::SearchRepository;
use crate::session::SessionRepository;
use crate::testing::{InMemoryStore, at};
use crate::timeline::TimelineRepository;
use crate::token::TokenRepository;
use std::error::Error;
use std::sync::Arc;

/// The result of a clause. The error is that of a port that should have worked.
pub type Kept = Result<(), Box<dyn Error + Send + Sync>>;

/// The database ports of one backend, all over the same database.
#[derive(Clone)]
pub struct Stores {
    pub resources: Arc<dyn ResourceRepository>,
    pub resource_catalog: Arc<dyn ResourceCatalog>,
    pub logs: Arc<dyn LogRepository>,
    pub crash_reports: Arc<dyn CrashReportRepository>,
    pub crash_analyses: Arc<dyn CrashAnalysisRepository>,
    pub crash_groups: Arc<dyn CrashGroupRepository>,
    pub crash_archive: Arc<dyn CrashReportArchive>,
    pub computers: Arc<dyn ComputerRepository>,
    pub search: Arc<dyn SearchRepository>,
    pub device_statuses: Arc<dyn DeviceStatusRepository>,
    /// With samples every [`crate::device_history::SAMPLE_EVERY`].
    pub device_history: Arc<dyn DeviceHistoryRepository>,
    pub device_board: Arc<dyn DeviceBoardRepository>,
    pub overview: Arc<dyn OverviewRepository>,
    pub fleet_directory: Arc<dyn FleetDirectory>,
    pub fleet_registry: Arc<dyn FleetRegistry>,
    pub records: Arc<dyn RecordRegistry>,
    pub keys: Arc<dyn KeyRegistry>,
    pub credentials: Arc<dyn CredentialDirectory>,
    pub ledger: Arc<dyn BlobLedger>,
    pub refusals: Arc<dyn RefusalRepository>,
    pub retention: Arc<dyn RetentionRepository>,
    pub inspection: Arc<dyn InspectionRepository>,
    pub activity: Arc<dyn ActivityRepository>,
    pub timeline: Arc<dyn TimelineRepository>,
    pub operators: Arc<dyn OperatorRepository>,
    pub setup: Arc<dyn SetupRepository>,
    pub sessions: Arc<dyn SessionRepository>,
    pub tokens: Arc<dyn TokenRepository>,
    pub audit: Arc<dyn AuditRepository>,
    pub authored_fleet: AuthoredFleet,
}

/// The ports that change the fleet, whose changes are recorded as those of [`fleet_author`].
#[derive(Clone)]
pub struct AuthoredFleet {
    pub registry: Arc<dyn FleetRegistry>,
    pub records: Arc<dyn RecordRegistry>,
    pub keys: Arc<dyn KeyRegistry>,
}

impl AuthoredFleet {
    /// The three ports of one implementation.
    #[must_use]
    pub fn of<T: FleetRegistry + RecordRegistry + KeyRegistry>(fleet: T) -> Self {
        let fleet = Arc::new(fleet);
        Self { registry: fleet.clone(), records: fleet.clone(), keys: fleet }
    }
}

/// A command of the user root.
#[must_use]
pub fn fleet_author() -> FleetAuthor {
    FleetAuthor { author: Author::command("root"), at: at(0) }
}

impl Stores {
    /// The ports of an in-memory database.
    #[must_use]
    pub fn in_memory(store: &InMemoryStore) -> Self {
        let authored_fleet = AuthoredFleet::of(store.by(fleet_author()));
        let store = Arc::new(store.clone());
        Self {
            resources: store.clone(),
            resource_catalog: store.clone(),
            logs: store.clone(),
            crash_reports: store.clone(),
            crash_analyses: store.clone(),
            crash_groups: store.clone(),
            crash_archive: store.clone(),
            computers: store.clone(),
            search: store.clone(),
            device_statuses: store.clone(),
            device_history: store.clone(),
            device_board: store.clone(),
            overview: store.clone(),
            fleet_directory: store.clone(),
            fleet_registry: store.clone(),
            records: store.clone(),
            keys: store.clone(),
            credentials: store.clone(),
            ledger: store.clone(),
            refusals: store.clone(),
            retention: store.clone(),
            inspection: store.clone(),
            activity: store.clone(),
            timeline: store.clone(),
            operators: store.clone(),
            setup: store.clone(),
            sessions: store.clone(),
            tokens: store.clone(),
            audit: store,
            authored_fleet,
        }
    }
}
