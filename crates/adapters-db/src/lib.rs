//! Platen's database ports over `SQLite` and `PostgreSQL`, with the same code.
//!
//! [`Database`] opens a database, migrates it and gives out one repository for each port of the domain. The port says
//! what a repository must hold; how the repositories hold it:
//!
//! - Times are microseconds since 1970, GUIDs are UUIDs, and text that is compared without case has a second, folded
//!   column (decision R14). See `migration`.
//! - A write runs in its own task, in one transaction, to its end (`connections.rs`). Log entries, statuses and crash
//!   reports that arrive at the same time share a transaction (`group_commit.rs`).
//! - Lookups of credentials and known records are answered from memory while the fleet stays the same
//!   (`fleet_cache.rs`).
//! - Lists are read in pages; no connection is held between two of them (`page.rs`).

mod access;
mod activity;
mod audit;
mod computer;
mod concurrency_limit;
mod connect;
mod connections;
mod convert;
mod copy;
mod crash_analysis;
mod crash_archive;
mod crash_group;
mod crash_report;
mod database;
mod database_url;
mod device_board;
mod device_history;
mod device_status;
mod entity;
mod error;
mod fleet;
mod fleet_cache;
mod group_commit;
mod inspection;
mod instance_lock;
mod ledger;
mod log_entry;
mod meters;
mod migrate;
mod migration;
mod operator;
mod overview;
mod page;
mod refusal;
mod resource;
mod resource_catalog;
mod retention;
mod retry;
mod search;
mod session;
#[cfg(test)]
mod testing;
mod text_filter;
mod text_head;
mod timeline;
mod token;
mod write_probe;

pub use access::SqlCredentialDirectory;
pub use activity::SqlActivityRepository;
pub use audit::SqlAuditRepository;
pub use computer::SqlComputerRepository;
pub use copy::{CopiedRecords, CopyError, RecordCopy};
pub use crash_analysis::SqlCrashAnalysisRepository;
pub use crash_archive::SqlCrashReportArchive;
pub use crash_group::SqlCrashGroupRepository;
pub use crash_report::SqlCrashReportRepository;
pub use database::{Database, DatabaseConfig, is_same_database};
pub use database_url::{is_database_url, missing_file};
pub use device_board::SqlDeviceBoardRepository;
pub use device_history::SqlDeviceHistoryRepository;
pub use device_status::SqlDeviceStatusRepository;
pub use error::OpenError;
pub use fleet::{SqlFleetDirectory, SqlFleetRegistry};
pub use inspection::SqlInspectionRepository;
pub use ledger::SqlBlobLedger;
pub use log_entry::SqlLogRepository;
pub use migrate::Migrated;
pub use operator::SqlOperatorRepository;
pub use overview::SqlOverviewRepository;
pub use refusal::SqlRefusalRepository;
pub use resource::SqlResourceRepository;
pub use resource_catalog::SqlResourceCatalog;
pub use retention::SqlRetentionRepository;
pub use search::SqlSearchRepository;
pub use session::SqlSessionRepository;
pub use timeline::SqlTimelineRepository;
pub use token::SqlTokenRepository;
