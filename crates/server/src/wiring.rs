//! Wires the use cases to the adapters that the configuration names.

use crate::config::{Blobs, Config, Database as DatabaseSection, Insight};
use crate::passwords::Argon2Hasher;
use crate::system::{RandomIds, SystemClock};
use adapters_blob::BlobConfig;
use adapters_db::{Database, DatabaseConfig, Migrated, OpenError, SqlFleetRegistry};
use adapters_icc::IccReader;
use adapters_minidump::ChildProcessReader;
use anyhow::{Context, Result, anyhow};
use async_trait::async_trait;
use console_actix::Services as ConsoleServices;
use domain::access::{AccessService, KeyUses};
use domain::audit::AuditService;
use domain::blob::{BlobStore, Uploads};
use domain::clock::{Clock, IdSource};
use domain::computer::{ComputerService, ComputerSources};
use domain::crash_analysis::CrashAnalysisService;
use domain::crash_group::CrashGroupService;
use domain::crash_report::{CrashReportReader, CrashReportService, ReportSources};
use domain::device_board::{DeviceBoardService, ForecastService};
use domain::device_status::DeviceStatusService;
use domain::error::error_chain;
use domain::fleet::{FleetAuthor, FleetDirectory, FleetService};
use domain::log_entry::LogService;
use domain::operator::{Actor, OperatorService, OrganizationList, PasswordHasher, SetupService};
use domain::operator_log::OperatorLogService;
use domain::overview::OverviewService;
use domain::refusal::RefusalService;
use domain::resource::ResourceService;
use domain::resource_catalog::ResourceCatalogService;
use domain::retention::{RetentionPolicy, RetentionService};
use domain::search::SearchService;
use domain::session::SessionService;
use domain::token::TokenService;
use http_actix::{Readiness, Services};
use operator_actix::Services as OperatorServices;
use operator_actix::logs::LiveLog;
use secrecy::ExposeSecret;
use std::error::Error;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Longest wait for the database, so that a client has its answer within five seconds whatever happens.
pub(crate) const DATABASE_TIMEOUT: Duration = Duration::from_secs(4);

/// Longest wait for the database when the process ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest wait for a store when readiness is asked.
const READINESS_TIMEOUT: Duration = Duration::from_secs(5);

/// What to do if the database file is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is made, and its folders.
    Make,
    /// The command has nothing to work on.
    Refuse,
}

fn database_config(section: &DatabaseSection, missing: Missing) -> DatabaseConfig {
    DatabaseConfig {
        url: section.url.expose_secret().to_owned(),
        max_connections: section.max_connections,
        timeout: DATABASE_TIMEOUT,
        make_missing: missing == Missing::Make,
        sample_every: section.sample_every,
    }
}

/// The file of the database, where it is one that isn't there.
pub(crate) fn missing_file(section: &DatabaseSection) -> Option<PathBuf> {
    adapters_db::missing_file(section.url.expose_secret())
}

/// Opens the database and brings its schema up to date.
pub(crate) async fn open_database(section: &DatabaseSection, missing: Missing) -> Result<(Database, Migrated)> {
    migrated(Database::connect(&database_config(section, missing)).await).await
}

/// Opens an empty database that is gone with this process.
pub(crate) async fn open_in_memory() -> Result<Database> {
    let section = DatabaseSection {
        url: "sqlite::memory:".to_owned().into(),
        max_connections: 1,
        sample_every: domain::device_history::SAMPLE_EVERY,
    };
    Ok(open_database(&section, Missing::Make).await?.0)
}

/// Opens the database as [`open_database`] does, unless another process has it open, and keeps others out.
pub(crate) async fn open_database_alone(section: &DatabaseSection, missing: Missing) -> Result<Database> {
    Ok(migrated(Database::connect_alone(&database_config(section, missing)).await).await?.0)
}

async fn migrated(connected: Result<Database, OpenError>) -> Result<(Database, Migrated)> {
    // The text of an `OpenError` includes its causes, which anyhow would repeat.
    let database = connected.map_err(|error| anyhow!("{error}"))?;
    match database.migrate().await {
        Ok(migrated) => Ok((database, migrated)),
        Err(error) => {
            close(database).await;
            Err(anyhow!("{error}"))
        }
    }
}

/// Opens the database for a command that only reads. Nothing is changed: its schema must be the one that this program
/// knows.
pub(crate) async fn open_unchanged(section: &DatabaseSection) -> Result<Database> {
    let connected = Database::connect(&database_config(section, Missing::Refuse)).await;
    let database = connected.map_err(|error| anyhow!("{error}"))?;
    match database.require_current().await {
        Ok(()) => Ok(database),
        Err(error) => {
            close(database).await;
            Err(anyhow!("{error}"))
        }
    }
}

/// Closes the database in order, if it answers.
pub(crate) async fn close(database: Database) {
    if timeout(CLOSE_TIMEOUT, database.close()).await.is_err() {
        tracing::warn!("the database does not answer; its connections are dropped");
    }
}

/// Opens the blob store for a command that only reads. A missing folder is made.
pub(crate) async fn open_blobs(config: &Blobs) -> Result<Arc<dyn BlobStore>> {
    adapters_blob::open(&config.place).await.with_context(|| unusable(config))
}

/// Opens the blob store for a command that writes: a store that can't be written to is refused.
pub(crate) async fn open_blobs_for_writing(config: &Blobs) -> Result<Arc<dyn BlobStore>> {
    adapters_blob::open_for_writing(&config.place).await.with_context(|| unusable(config))
}

/// Opens the blob store for the server, with its cache of small contents.
pub(crate) async fn open_blobs_for_serving(config: &Blobs) -> Result<Arc<dyn BlobStore>> {
    adapters_blob::open_for_serving(&config.place).await.with_context(|| unusable(config))
}

fn unusable(config: &Blobs) -> String {
    let key = match config.place {
        BlobConfig::Local { .. } => "blobs.path",
        BlobConfig::S3(_) => "blobs.bucket",
        BlobConfig::Memory => "blobs.kind",
    };
    format!("the blob store ({key}) can't be used")
}

/// A sentence about what a migration did.
pub(crate) fn migration_summary(migrated: Migrated) -> String {
    let Migrated { from, to } = migrated;
    if from == to {
        return format!("the database schema is up to date: version {to}");
    }
    format!("migrated the database schema from version {from} to version {to}")
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

pub(crate) fn ids() -> Arc<dyn IdSource> {
    Arc::new(RandomIds)
}

/// The use cases on the fleet, whose changes are recorded as those of this command.
pub(crate) fn fleet_service(database: &Database) -> FleetService {
    FleetService::new(Arc::new(fleet_registry(database)), clock(), ids())
}

/// The fleet, whose changes are recorded as those of this command (decision P9).
pub(crate) fn fleet_registry(database: &Database) -> SqlFleetRegistry {
    database.fleet_registry().by(FleetAuthor { author: actor().author, at: clock().now() })
}

/// A command, by the system's user who runs it.
pub(crate) fn actor() -> Actor {
    let named = ["SUDO_USER", "USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let user = named.into_iter().find(|name| !name.is_empty());
    Actor::command(user.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw())))
}

/// The use cases on operators.
pub(crate) fn operators(database: &Database) -> OperatorService {
    OperatorService::new(Arc::new(database.operators()), Arc::new(Argon2Hasher::new()), clock(), ids())
}

/// The use cases on tokens.
pub(crate) fn tokens(database: &Database) -> TokenService {
    TokenService::new(Arc::new(database.tokens()), Arc::new(database.operators()), clock(), ids())
}

/// The use cases of the operator API.
pub(crate) fn operator_services(database: &Database, blobs: &Arc<dyn BlobStore>, config: &Insight) -> OperatorServices {
    let (operators, audit) = (Arc::new(database.operators()), Arc::new(database.audit()));
    let hasher: Arc<dyn PasswordHasher> = Arc::new(Argon2Hasher::new());
    let logs = Arc::new(OperatorLogService::new(Arc::new(database.inspection())));
    let (board, history) = (Arc::new(database.device_board()), Arc::new(database.device_history()));
    let (timeline, silent_after) = (Arc::new(database.timeline()), config.silent_after);
    let (sessions, hashing) = (Arc::new(database.sessions()), Arc::clone(&hasher));
    let organizations = Arc::new(OrganizationList::new(Arc::new(database.inspection())));
    OperatorServices {
        sessions: Arc::new(SessionService::new(sessions, operators.clone(), audit.clone(), hashing, clock(), ids())),
        tokens: Arc::new(tokens(database)),
        operators: Arc::new(OperatorService::new(operators, hasher, clock(), ids())),
        organizations: Arc::clone(&organizations),
        audit: Arc::new(AuditService::new(audit)),
        crash_groups: Arc::new(CrashGroupService::new(
            Arc::new(database.crash_groups()),
            Arc::clone(&organizations),
            clock(),
        )),
        crash_reports: Arc::new(CrashReportReader::new(report_sources(database, blobs), Arc::clone(&organizations))),
        computers: Arc::new(ComputerService::new(computer_sources(database), Arc::clone(&organizations))),
        search: Arc::new(SearchService::new(Arc::new(database.search()), organizations)),
        live: LiveLog::new(Arc::clone(&logs)),
        logs,
        refusals: Arc::new(RefusalService::new(Arc::new(database.refusals()), clock())),
        resources: Arc::new(resource_catalog(database, blobs)),
        overview: Arc::new(OverviewService::new(Arc::new(database.overview()), board.clone(), clock(), silent_after)),
        devices: Arc::new(DeviceBoardService::new(board, history, timeline, clock(), silent_after)),
    }
}

/// The use cases of operators on resources.
fn resource_catalog(database: &Database, blobs: &Arc<dyn BlobStore>) -> ResourceCatalogService {
    ResourceCatalogService {
        catalog: Arc::new(database.resource_catalog()),
        resources: Arc::new(database.resources()),
        activity: Arc::new(database.activity()),
        inspection: Arc::new(database.inspection()),
        blobs: Arc::clone(blobs),
        profiles: Arc::new(IccReader::default()),
    }
}

/// What crash reports are read from.
fn report_sources(database: &Database, blobs: &Arc<dyn BlobStore>) -> ReportSources {
    ReportSources {
        archive: Arc::new(database.crash_archive()),
        analyses: Arc::new(database.crash_analyses()),
        inspection: Arc::new(database.inspection()),
        blobs: Arc::clone(blobs),
    }
}

/// What is known of computers.
fn computer_sources(database: &Database) -> ComputerSources {
    ComputerSources {
        computers: Arc::new(database.computers()),
        refusals: Arc::new(database.refusals()),
        activity: Arc::new(database.activity()),
        groups: Arc::new(database.crash_groups()),
        timeline: Arc::new(database.timeline()),
    }
}

/// The use cases of the console, which shares the sessions of the operator API.
pub(crate) fn console_services(database: &Database, operators: &OperatorServices) -> ConsoleServices {
    let setup = SetupService::new(Arc::new(database.operators()), Arc::new(Argon2Hasher::new()), clock(), ids());
    ConsoleServices { sessions: Arc::clone(&operators.sessions), setup: Arc::new(setup) }
}

/// The contents that clients send.
pub(crate) fn uploads(database: &Database, blobs: &Arc<dyn BlobStore>) -> Uploads {
    Uploads::new(Arc::clone(blobs), Arc::new(database.ledger()), clock(), ids())
}

/// The removal of old records.
pub(crate) fn retention(database: &Database, policy: RetentionPolicy) -> RetentionService {
    RetentionService::new(Arc::new(database.retention()), clock(), policy)
}

/// The analysis of crash reports. Minidumps are read by this same program in a child process.
pub(crate) fn crash_analysis(
    database: &Database,
    blobs: &Arc<dyn BlobStore>,
    config: &Insight,
) -> Result<CrashAnalysisService> {
    let program = std::env::current_exe().context("cannot find the program itself, which reads minidumps")?;
    let dumps = Arc::new(ChildProcessReader::new(program, config.max_dump));
    Ok(CrashAnalysisService::new(Arc::new(database.crash_analyses()), Arc::clone(blobs), dumps, clock()))
}

/// The forecasts of all devices.
pub(crate) fn forecasts(database: &Database) -> ForecastService {
    ForecastService::new(Arc::new(database.device_board()), Arc::new(database.device_history()), clock())
}

/// The use cases of clients.
pub(crate) fn services(
    database: &Database,
    blobs: &Arc<dyn BlobStore>,
    uploads: &Uploads,
    key_uses: &Arc<KeyUses>,
    config: &Config,
) -> Services {
    let directory: Arc<dyn FleetDirectory> = Arc::new(database.fleet_directory());
    Services {
        access: Arc::new(AccessService::new(Arc::new(database.credentials())).noting(Arc::clone(key_uses))),
        resources: Arc::new(ResourceService::new(Arc::new(database.resources()), uploads.clone(), config.limits)),
        logs: Arc::new(LogService::new(Arc::new(database.logs()), Arc::clone(&directory), clock())),
        crash_reports: Arc::new(CrashReportService::new(
            Arc::new(database.crash_reports()),
            uploads.clone(),
            config.limits,
        )),
        device_statuses: Arc::new(DeviceStatusService::new(Arc::new(database.device_statuses()), directory, clock())),
        readiness: Arc::new(Stores { database: database.clone(), blobs: Arc::clone(blobs) }),
    }
}

/// Ready if both stores can be reached.
struct Stores {
    database: Database,
    blobs: Arc<dyn BlobStore>,
}

#[async_trait]
impl Readiness for Stores {
    async fn check(&self) -> Result<(), String> {
        let (database, blobs) =
            tokio::join!(reached("database", self.database.check_ready()), reached("blob store", self.blobs.ping()));
        let error_chain: Vec<String> = [database, blobs].into_iter().filter_map(Result::err).collect();
        if error_chain.is_empty() { Ok(()) } else { Err(error_chain.join("; ")) }
    }
}

async fn reached<E: Error + 'static>(store: &str, ping: impl Future<Output = Result<(), E>>) -> Result<(), String> {
    match timeout(READINESS_TIMEOUT, ping).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("{store}: {}", error_chain(&error))),
        Err(_) => Err(format!("{store}: no answer within {} s", READINESS_TIMEOUT.as_secs())),
    }
}
