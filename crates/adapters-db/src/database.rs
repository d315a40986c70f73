//! A database as the program sees it: opened, migrated, asked for its repositories, closed.

use crate::concurrency_limit::ConcurrencyLimit;
use crate::connect::{Pools, connect_failure, open};
use crate::connections::Connections;
use crate::crash_report::{CrashReportRows, CrashReportWriter};
use crate::database_url::DatabaseUrl;
use crate::device_status::StatusWriter;
use crate::entity::{device_status, log_entry};
use crate::error::{OpenError, cause_of, store_error, unavailable};
use crate::fleet_cache::FleetCache;
use crate::group_commit::GroupCommit;
use crate::instance_lock::InstanceLock;
use crate::log_entry::LogWriter;
use crate::meters::PoolMeters;
use crate::migrate::{self, Migrated};
use crate::resource::lookups::ResourceLookups;
use crate::write_probe::ProbeWriter;
use crate::{
    SqlActivityRepository, SqlAuditRepository, SqlBlobLedger, SqlComputerRepository, SqlCrashAnalysisRepository,
    SqlCrashGroupRepository, SqlCrashReportArchive, SqlCrashReportRepository, SqlCredentialDirectory,
    SqlDeviceBoardRepository, SqlDeviceHistoryRepository, SqlDeviceStatusRepository, SqlFleetDirectory,
    SqlFleetRegistry, SqlInspectionRepository, SqlLogRepository, SqlOperatorRepository, SqlOverviewRepository,
    SqlRefusalRepository, SqlResourceCatalog, SqlResourceRepository, SqlRetentionRepository, SqlSearchRepository,
    SqlSessionRepository, SqlTimelineRepository, SqlTokenRepository,
};
use domain::error::StoreError;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor, Row};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The database to open, with limits and timeouts.
#[derive(Clone)]
pub struct DatabaseConfig {
    /// `sqlite://PATH`, `sqlite::memory:` or `postgres://…`.
    pub url: String,
    /// Connections for the requests of clients. `PostgreSQL` has seven more, for group commits, gathered lookups and
    /// readiness; a `SQLite` file has one more, for writes; a database in memory has one in all.
    pub max_connections: u32,
    /// Timeout for a connection, and for a lookup or a write.
    pub timeout: Duration,
    /// Whether to make the file of a `SQLite` database and its folders if they are missing.
    pub make_missing: bool,
    /// Minimum time between two samples of the measured values of a device (decision I1).
    pub sample_every: Duration,
}

/// Whether both URLs name one database. Two `PostgreSQL` servers are asked, since one server may have several addresses;
/// a server that doesn't answer within `max_wait` counts as another one.
///
/// # Errors
/// [`OpenError::Url`]
pub async fn is_same_database(one: &str, other: &str, max_wait: Duration) -> Result<bool, OpenError> {
    match &[DatabaseUrl::parse(one)?, DatabaseUrl::parse(other)?] {
        [one, other] if one.is_same(other) => Ok(true),
        [DatabaseUrl::Postgres(one), DatabaseUrl::Postgres(other)] => {
            let both = async { Ok::<_, sqlx::Error>(identity(one).await? == identity(other).await?) };
            Ok(matches!(timeout(max_wait, both).await, Ok(Ok(true))))
        }
        _ => Ok(false),
    }
}

/// Identifies a database independently of host names: the start time of the server in microseconds, and the number of
/// the database.
async fn identity(options: &PgConnectOptions) -> Result<String, sqlx::Error> {
    let mut session = PgConnection::connect_with(options).await?;
    let select = "SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid
        FROM pg_database WHERE datname = current_database()";
    let identity = session.fetch_one(select).await?.try_get(0)?;
    session.close().await?;
    Ok(identity)
}

impl DatabaseConfig {
    /// Parses the URL and prepares the folder of a file.
    fn prepare(&self) -> Result<DatabaseUrl, OpenError> {
        let url = DatabaseUrl::parse(&self.url)?;
        url.prepare(self.make_missing)?;
        Ok(url)
    }
}

impl fmt::Debug for DatabaseConfig {
    /// Names the database without the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = DatabaseUrl::parse(&self.url).map_or_else(|_| "unusable".to_owned(), |url| url.name());
        out.debug_struct("DatabaseConfig")
            .field("url", &url)
            .field("max_connections", &self.max_connections)
            .field("timeout", &self.timeout)
            .field("make_missing", &self.make_missing)
            .field("sample_every", &self.sample_every)
            .finish()
    }
}

/// An open database. Clones share its connections.
#[derive(Clone)]
pub struct Database {
    db: Arc<Connections>,
    log_commits: Arc<GroupCommit<log_entry::ActiveModel>>,
    status_commits: Arc<GroupCommit<device_status::Model>>,
    report_commits: Arc<GroupCommit<CrashReportRows>>,
    probes: Arc<GroupCommit<()>>,
    resource_lookups: ResourceLookups,
    overview: SqlOverviewRepository,
    pools: Arc<PoolMeters>,
}

impl Database {
    /// Opens the database. Writes run on the runtime on which this is called.
    ///
    /// # Errors
    /// Fails after a bounded number of tries if no server answers, and immediately if it refuses us.
    pub async fn connect(config: &DatabaseConfig) -> Result<Self, OpenError> {
        let url = config.prepare()?;
        let instance_lock = InstanceLock::shared(&url)?;
        Self::open(config, &url, instance_lock).await
    }

    /// Opens a database that no other process has open, and keeps others out until it is closed.
    ///
    /// # Errors
    /// [`OpenError::InUse`], and as [`Database::connect`].
    pub async fn connect_alone(config: &DatabaseConfig) -> Result<Self, OpenError> {
        let url = config.prepare()?;
        let instance_lock = InstanceLock::exclusive(&url, config.timeout).await?;
        Self::open(config, &url, instance_lock).await
    }

    async fn open(config: &DatabaseConfig, url: &DatabaseUrl, instance_lock: InstanceLock) -> Result<Self, OpenError> {
        let (timeout, max_connections) = (config.timeout, config.max_connections.max(1));
        let is_exclusive = instance_lock.is_exclusive_session();
        let Pools { reads, writes, lost_sessions } = open(url, max_connections, timeout, is_exclusive).await?;
        let backend = writes.get_database_backend();
        let has_two_pools = matches!(url, DatabaseUrl::File(_));
        let readers = if matches!(url, DatabaseUrl::Memory) { 1 } else { max_connections as usize };
        // A query that waits for a permit has half of the timeout left for the answer.
        let read_limit = ConcurrencyLimit::new(readers, timeout / 2);
        let write_limit = if has_two_pools { ConcurrencyLimit::new(1, timeout / 2) } else { read_limit.clone() };
        let (fleet_cache, runtime) = (FleetCache::new(), Handle::current());
        let db = Connections {
            reads,
            writes,
            read_limit,
            write_limit,
            backend,
            fleet_cache,
            runtime,
            timeout,
            lost_sessions,
            instance_lock,
        };
        let db = Arc::new(db);
        let pools = has_two_pools.then(|| db.writes.clone()).into_iter().chain([db.reads.clone()]).collect();
        Ok(Self {
            log_commits: Arc::new(GroupCommit::start(&db, LogWriter(db.writes.clone()))),
            status_commits: Arc::new(GroupCommit::start(&db, StatusWriter::new(&db, config.sample_every))),
            report_commits: Arc::new(GroupCommit::start(&db, CrashReportWriter(db.writes.clone()))),
            probes: Arc::new(GroupCommit::start(&db, ProbeWriter(db.writes.clone()))),
            resource_lookups: ResourceLookups::start(&db),
            overview: SqlOverviewRepository::new(db.clone()),
            pools: Arc::new(PoolMeters::new(pools)),
            db,
        })
    }

    /// Makes this the process that serves a `SQLite` file, until the database is closed; `false` if another does already.
    /// Any number of processes may serve one `PostgreSQL` database. To be called once.
    #[must_use]
    pub fn claim_serving(&self) -> bool {
        self.db.instance_lock.claim_serving()
    }

    /// Checks that no other process used the database since [`Database::connect_alone`].
    ///
    /// # Errors
    /// Another process may have used it.
    pub async fn confirm_alone(&self) -> Result<(), StoreError> {
        self.db.instance_lock.confirm().await
    }

    /// Brings the schema up to date. Of several processes that do so at once, one does and the
    /// others wait for it.
    ///
    /// # Errors
    /// [`OpenError::Newer`] for a database that a later version has migrated; a failed migration
    /// leaves the database as it was.
    pub async fn migrate(&self) -> Result<Migrated, OpenError> {
        let transaction = self.db.begin().await;
        let failed = |source: DbErr| OpenError::Migration { cause: cause_of(&source), source };
        migrate::migrate(transaction.map_err(failed)?).await
    }

    /// The version of the schema: 0 before the first migration.
    ///
    /// # Errors
    /// [`OpenError::Newer`] for a database that a later version has migrated.
    pub async fn schema_version(&self) -> Result<u32, OpenError> {
        migrate::version(&self.db.reads).await
    }

    /// Makes sure that the schema is the one that this program needs.
    ///
    /// # Errors
    /// [`OpenError::Outdated`] or [`OpenError::Newer`] where it isn't.
    pub async fn require_current(&self) -> Result<(), OpenError> {
        let found = self.schema_version().await?;
        if found < migrate::known() { Err(OpenError::Outdated { known: migrate::known(), found }) } else { Ok(()) }
    }

    /// Sends a query to the database over the pool of the clients, but without the concurrency limit: readiness must
    /// not depend on how many clients wait.
    ///
    /// # Errors
    /// The database doesn't answer; the error has the cause.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let select = match self.db.backend {
            // Reads the file, unlike a bare SELECT 1.
            DbBackend::Sqlite => "SELECT count(*) FROM sqlite_master",
            _ => "SELECT 1",
        };
        let select = Statement::from_string(self.db.backend, select);
        let answer = self.db.in_time(self.db.reads.query_one_raw(select)).await?;
        if let Err(DbErr::ConnectionAcquire(_)) = answer
            && let Some(cause) = connect_failure(&self.db.reads, self.db.timeout / 4).await
        {
            return Err(StoreError::unavailable(cause));
        }
        self.db.outcome(answer).map(drop)
    }

    /// Checks that the database answers and takes writes, by a small write on the path of the clients' writes.
    ///
    /// # Errors
    /// The database doesn't answer or takes no writes; the error has the cause.
    pub async fn check_ready(&self) -> Result<(), StoreError> {
        self.ping().await?;
        let is_stalled =
            self.log_commits.is_stalled() || self.status_commits.is_stalled() || self.report_commits.is_stalled();
        if is_stalled {
            return Err(unavailable("the database takes no writes"));
        }
        Ok(self.probes.add((), 0).await?)
    }

    /// The bytes that the database takes on its disk.
    ///
    /// # Errors
    /// The database doesn't answer; the error has the cause.
    pub async fn size(&self) -> Result<u64, StoreError> {
        let select = match self.db.backend {
            DbBackend::Sqlite => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            _ => "SELECT pg_database_size(current_database())",
        };
        let select = Statement::from_string(self.db.backend, select);
        let row = self.db.read(self.db.reads.query_one_raw(select)).await?;
        let bytes: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose().map_err(store_error)?;
        Ok(bytes.unwrap_or_default().cast_unsigned())
    }

    /// Brings the metrics of what is open now up to date.
    pub fn measure(&self) {
        self.pools.measure();
    }

    /// Writes what waits to be written, then closes all connections, also those of clones.
    pub async fn close(self) {
        self.log_commits.close().await;
        self.status_commits.close().await;
        self.report_commits.close().await;
        self.probes.close().await;
        for connections in [&self.db.reads, &self.db.writes] {
            if let Err(error) = connections.clone().close().await {
                tracing::warn!(error = %cause_of(&error), "the database connections didn't close in order");
            }
        }
        self.db.instance_lock.release().await;
    }

    pub(crate) fn db(&self) -> &Connections {
        &self.db
    }

    /// The port to the stored resources.
    pub fn resources(&self) -> SqlResourceRepository {
        SqlResourceRepository::new(self.db.clone(), self.resource_lookups.clone())
    }

    /// The port to the lists of resources for operators.
    pub fn resource_catalog(&self) -> SqlResourceCatalog {
        SqlResourceCatalog::new(self.db.clone())
    }

    /// The port to the log entries.
    pub fn logs(&self) -> SqlLogRepository {
        SqlLogRepository::new(self.db.clone(), self.log_commits.clone())
    }

    /// The port to the crash reports.
    pub fn crash_reports(&self) -> SqlCrashReportRepository {
        SqlCrashReportRepository::new(self.db.clone(), self.report_commits.clone())
    }

    /// The port to the analyses of crash reports.
    pub fn crash_analyses(&self) -> SqlCrashAnalysisRepository {
        SqlCrashAnalysisRepository::new(self.db.clone())
    }

    /// The port to the groups of crash reports.
    pub fn crash_groups(&self) -> SqlCrashGroupRepository {
        SqlCrashGroupRepository::new(self.db.clone())
    }

    /// The port to the crash reports for operators.
    pub fn crash_archive(&self) -> SqlCrashReportArchive {
        SqlCrashReportArchive::new(self.db.clone())
    }

    /// The port to the computers for operators.
    pub fn computers(&self) -> SqlComputerRepository {
        SqlComputerRepository::new(self.db.clone())
    }

    /// The port to the search.
    pub fn search(&self) -> SqlSearchRepository {
        SqlSearchRepository::new(self.db.clone())
    }

    /// The port to the device statuses.
    pub fn device_statuses(&self) -> SqlDeviceStatusRepository {
        SqlDeviceStatusRepository::new(self.db.clone(), self.status_commits.clone())
    }

    /// The port to last requests and fetches.
    pub fn activity(&self) -> SqlActivityRepository {
        SqlActivityRepository::new(self.db.clone())
    }

    /// The port to timelines of computers and devices.
    pub fn timeline(&self) -> SqlTimelineRepository {
        SqlTimelineRepository::new(self.db.clone())
    }

    /// The port to lists of devices for operators.
    pub fn device_board(&self) -> SqlDeviceBoardRepository {
        SqlDeviceBoardRepository::new(self.db.clone())
    }

    /// The port to the figures of the first page.
    pub fn overview(&self) -> SqlOverviewRepository {
        self.overview.clone()
    }

    /// The port to the history of devices.
    pub fn device_history(&self) -> SqlDeviceHistoryRepository {
        SqlDeviceHistoryRepository::new(self.db.clone())
    }

    /// The port to the known records.
    pub fn fleet_directory(&self) -> SqlFleetDirectory {
        SqlFleetDirectory::new(self.db.clone())
    }

    /// The port through which the operator changes the fleet.
    pub fn fleet_registry(&self) -> SqlFleetRegistry {
        SqlFleetRegistry::new(self.db.clone())
    }

    /// The port to the credentials.
    pub fn credentials(&self) -> SqlCredentialDirectory {
        SqlCredentialDirectory::new(self.db.clone())
    }

    /// The port to the refusals that are kept for a while.
    pub fn refusals(&self) -> SqlRefusalRepository {
        SqlRefusalRepository::new(self.db.clone())
    }

    /// The port through which old records are removed.
    pub fn retention(&self) -> SqlRetentionRepository {
        SqlRetentionRepository::new(self.db.clone())
    }

    /// The port to what is stored, for the operator.
    pub fn inspection(&self) -> SqlInspectionRepository {
        SqlInspectionRepository::new(self.db.clone())
    }

    /// The ports to operators and to the first start.
    pub fn operators(&self) -> SqlOperatorRepository {
        SqlOperatorRepository::new(self.db.clone())
    }

    /// The port to the sessions of operators.
    pub fn sessions(&self) -> SqlSessionRepository {
        SqlSessionRepository::new(self.db.clone())
    }

    /// The port to the tokens of operators.
    pub fn tokens(&self) -> SqlTokenRepository {
        SqlTokenRepository::new(self.db.clone())
    }

    /// The port to the audit records.
    pub fn audit(&self) -> SqlAuditRepository {
        SqlAuditRepository::new(self.db.clone())
    }

    /// The port to what is known of blobs.
    pub fn ledger(&self) -> SqlBlobLedger {
        SqlBlobLedger::new(self.db.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::is_same_database;
    use crate::testing::engines;
    use std::time::Duration;

    #[tokio::test]
    async fn a_database_is_the_same_under_whatever_name_its_server_has() {
        let timeout = Duration::from_secs(10);
        let [one, other] = [engines().await.remove(1), engines().await.remove(1)].map(|engine| engine.config.url);
        let renamed = |url: &str| url.replace("127.0.0.1", "localhost");
        assert_ne!(renamed(&one), one);
        assert!(is_same_database(&one, &renamed(&one), timeout).await.unwrap());
        assert!(!is_same_database(&one, &renamed(&other), timeout).await.unwrap());
        let unreachable = "postgres://platen@127.0.0.1:1/platen";
        assert!(!is_same_database(&one, unreachable, timeout).await.unwrap());
        assert!(!is_same_database(&one, "sqlite::memory:", timeout).await.unwrap());
    }
}
