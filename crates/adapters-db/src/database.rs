//! A database as the program sees it: opened, migrated, asked for its repositories, closed.

use crate::concurrency_limit::ConcurrencyLimit;
use crate::connections::Connections;
use crate::crash_report::{CrashReportRows, CrashReportWriter};
use crate::device_status::StatusWriter;
use crate::diagnosis::Diagnosis;
use crate::entity::{device_status, log_entry};
use crate::error::{OpenError, cause_of, unavailable};
use crate::fleet_cache::FleetCache;
use crate::group_commit::GroupCommit;
use crate::instance_lock::InstanceLock;
use crate::log_entry::LogWriter;
use crate::meters::PoolMeters;
use crate::migration::Migrator;
use crate::open::{Pools, open};
use crate::url::Place;
use crate::{
    SqlBlobLedger, SqlCrashReportRepository, SqlCredentialDirectory, SqlDeviceStatusRepository, SqlFleetDirectory,
    SqlFleetRegistry, SqlInspectionRepository, SqlLogRepository, SqlRefusalRepository, SqlResourceRepository,
    SqlRetentionRepository,
};
use domain::error::StoreError;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor, Row};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use sea_orm_migration::{MigratorTrait, SchemaManager};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// Whoever migrates a `PostgreSQL` database holds this advisory lock: "platen", as a number.
const MIGRATION_LOCK: i64 = 0x0070_6c61_7465_6e00;

/// Between two looks whether another process has finished with the migrations.
const LOCK_PAUSE: Duration = Duration::from_millis(200);

/// Where migrations are recorded, by sea-orm-migration.
const MIGRATION_TABLE: &str = "seaql_migrations";

/// Which database, and how to use it.
#[derive(Clone)]
pub struct DatabaseConfig {
    /// `sqlite://PATH`, `sqlite::memory:` or `postgres://…`.
    pub url: String,
    /// Connections at most, beside two of `PostgreSQL` by which small records are committed and resources
    /// looked up, and one of `SQLite` for writing; in memory it has one in all.
    pub max_connections: u32,
    /// Longest wait for a connection, and for the answer to a look-up or a write.
    pub acquire_timeout: Duration,
    /// Makes the file of a `SQLite` database that isn't there, and its folders.
    pub make_missing: bool,
}

/// Whether both URLs name one database, also in different ways: of `PostgreSQL`, which may have several addresses,
/// the servers are asked. One that doesn't answer within `max_wait` counts as another one; whoever opens it is told
/// why.
///
/// # Errors
/// [`OpenError::Url`]
pub async fn is_same_database(one: &str, other: &str, max_wait: Duration) -> Result<bool, OpenError> {
    let places = [Place::parse(one)?, Place::parse(other)?];
    match &places {
        [one, other] if one.is_same(other) => Ok(true),
        [Place::Postgres(one), Place::Postgres(other)] => {
            let both = async { Ok::<_, sqlx::Error>(identity(one).await? == identity(other).await?) };
            Ok(matches!(timeout(max_wait, both).await, Ok(Ok(true))))
        }
        _ => Ok(false),
    }
}

/// What no two databases have in common, whatever their server is called: since when it runs, to the microsecond,
/// and its number for the database.
async fn identity(options: &PgConnectOptions) -> Result<String, sqlx::Error> {
    let mut session = PgConnection::connect_with(options).await?;
    let ask = "SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid
        FROM pg_database WHERE datname = current_database()";
    let told = session.fetch_one(ask).await?.try_get(0)?;
    session.close().await?;
    Ok(told)
}

impl DatabaseConfig {
    /// The place, prepared.
    fn place(&self) -> Result<Place, OpenError> {
        let place = Place::parse(&self.url)?;
        place.prepare(self.make_missing)?;
        Ok(place)
    }
}

impl fmt::Debug for DatabaseConfig {
    /// Names the database without the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = Place::parse(&self.url).map_or_else(|_| "unusable".to_owned(), |place| place.name());
        out.debug_struct("DatabaseConfig")
            .field("url", &url)
            .field("max_connections", &self.max_connections)
            .field("acquire_timeout", &self.acquire_timeout)
            .field("make_missing", &self.make_missing)
            .finish()
    }
}

/// What a migration did: numbers of applied migrations, which are the versions of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    pub from: u32,
    pub to: u32,
}

/// An open database. Clones share its connections.
#[derive(Clone)]
pub struct Database {
    db: Arc<Connections>,
    log_commits: Arc<GroupCommit<log_entry::ActiveModel>>,
    status_commits: Arc<GroupCommit<device_status::Model>>,
    report_commits: Arc<GroupCommit<CrashReportRows>>,
    pools: Arc<PoolMeters>,
}

impl Database {
    /// Opens the database. Writes run on the runtime on which this is called.
    ///
    /// # Errors
    /// After a bounded number of tries where nobody answers, at once where we are refused.
    pub async fn connect(config: &DatabaseConfig) -> Result<Self, OpenError> {
        let place = config.place()?;
        let instance_lock = InstanceLock::shared(&place)?;
        Self::open(config, &place, instance_lock).await
    }

    /// Opens a database that no other process has open, and keeps others out until it is closed.
    ///
    /// # Errors
    /// [`OpenError::InUse`], and as [`Database::connect`].
    pub async fn connect_alone(config: &DatabaseConfig) -> Result<Self, OpenError> {
        let place = config.place()?;
        let instance_lock = InstanceLock::alone(&place, config.acquire_timeout).await?;
        Self::open(config, &place, instance_lock).await
    }

    async fn open(config: &DatabaseConfig, place: &Place, instance_lock: InstanceLock) -> Result<Self, OpenError> {
        let timeout = config.acquire_timeout;
        let Pools { reads, writes } =
            open(place, config.max_connections.max(1), timeout, instance_lock.is_alone()).await?;
        let backend = writes.get_database_backend();
        let has_two_pools = matches!(place, Place::File(_));
        let connections = if matches!(place, Place::Memory) { 1 } else { config.max_connections.max(1) as usize };
        // A query that waits for a permit has half of the timeout left for the answer.
        let read_limit = ConcurrencyLimit::new(connections, timeout / 2);
        let write_limit = if has_two_pools { ConcurrencyLimit::new(1, timeout / 2) } else { read_limit.clone() };
        let (fleet_cache, runtime) = (FleetCache::new(), Handle::current());
        let diagnosis = Diagnosis::new(place, instance_lock.is_alone(), timeout);
        let log_commits = GroupCommit::start(&runtime, timeout, LogWriter(writes.clone()));
        let status_commits = GroupCommit::start(&runtime, timeout, StatusWriter(writes.clone()));
        let report_commits = GroupCommit::start(&runtime, timeout, CrashReportWriter(writes.clone()));
        let pools = has_two_pools.then(|| writes.clone()).into_iter().chain([reads.clone()]).collect();
        let db = Connections {
            reads,
            writes,
            read_limit,
            write_limit,
            backend,
            fleet_cache,
            runtime,
            timeout,
            diagnosis,
            instance_lock,
        };
        Ok(Self {
            db: Arc::new(db),
            log_commits: Arc::new(log_commits),
            status_commits: Arc::new(status_commits),
            report_commits: Arc::new(report_commits),
            pools: Arc::new(PoolMeters::new(pools)),
        })
    }

    /// Makes this the process that serves a `SQLite` file, until the database is closed; `false` if another does already.
    /// Any number of processes may serve one `PostgreSQL` database. To be called once.
    #[must_use]
    pub fn claim_serving(&self) -> bool {
        self.db.instance_lock.claim_serving()
    }

    /// Whether others were kept out since [`Database::connect_alone`].
    ///
    /// # Errors
    /// They may not have been.
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
        let failed = |source: DbErr| OpenError::Migration { cause: cause_of(&source), source };
        let transaction = self.db.begin().await.map_err(failed)?;
        if self.db.backend == DbBackend::Postgres {
            self.wait_for_turn(&transaction).await.map_err(failed)?;
        }
        let from = version(&transaction).await?;
        if from < known() {
            Migrator::up(&transaction, None).await.map_err(failed)?;
        }
        let to = version(&transaction).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(Migrated { from, to })
    }

    /// Waits until nobody else migrates the database.
    async fn wait_for_turn(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let mut told = false;
        loop {
            let take = self.db.statement("SELECT pg_try_advisory_xact_lock($1)", [MIGRATION_LOCK.into()]);
            let taken = transaction.query_one_raw(take).await?.map(|row| row.try_get_by_index(0)).transpose()?;
            if taken == Some(true) {
                return Ok(());
            }
            if !told {
                tracing::warn!("waiting for another process that migrates this database");
            }
            told = true;
            sleep(LOCK_PAUSE).await;
        }
    }

    /// The version of the schema: 0 before the first migration.
    ///
    /// # Errors
    /// [`OpenError::Newer`] for a database that a later version has migrated.
    pub async fn schema_version(&self) -> Result<u32, OpenError> {
        version(&self.db.reads).await
    }

    /// Makes sure that the schema is the one that this program needs.
    ///
    /// # Errors
    /// [`OpenError::Outdated`] or [`OpenError::Newer`] where it isn't.
    pub async fn require_current(&self) -> Result<(), OpenError> {
        let found = self.schema_version().await?;
        if found < known() { Err(OpenError::Outdated { known: known(), found }) } else { Ok(()) }
    }

    /// Whether the database answers and takes writes, for readiness.
    ///
    /// # Errors
    /// The failure to do so.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let ask = match self.db.backend {
            // Reads the file, unlike a bare SELECT 1.
            DbBackend::Sqlite => "SELECT count(*) FROM sqlite_master",
            _ => "SELECT 1",
        };
        let ask = Statement::from_string(self.db.backend, ask);
        // Without a turn: how many wait says nothing of whether the database answers.
        self.db.explain(self.db.in_time(self.db.reads.query_one_raw(ask)).await?).await?;
        let is_stalled =
            self.log_commits.is_stalled() || self.status_commits.is_stalled() || self.report_commits.is_stalled();
        if is_stalled { Err(unavailable("the database takes no writes")) } else { Ok(()) }
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
        SqlResourceRepository::new(self.db.clone())
    }

    /// The port to the log entries.
    pub fn logs(&self) -> SqlLogRepository {
        SqlLogRepository::new(self.db.clone(), self.log_commits.clone())
    }

    /// The port to the crash reports.
    pub fn crash_reports(&self) -> SqlCrashReportRepository {
        SqlCrashReportRepository::new(self.db.clone(), self.report_commits.clone())
    }

    /// The port to the device statuses.
    pub fn device_statuses(&self) -> SqlDeviceStatusRepository {
        SqlDeviceStatusRepository::new(self.db.clone(), self.status_commits.clone())
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

    /// The port to what is known of blobs.
    pub fn ledger(&self) -> SqlBlobLedger {
        SqlBlobLedger::new(self.db.clone())
    }
}

/// Migrations that this program knows.
fn known() -> u32 {
    u32::try_from(Migrator::migrations().len()).unwrap_or(u32::MAX)
}

/// Migrations that were applied; all of them must be known.
async fn version<'c, C>(db: &'c C) -> Result<u32, OpenError>
where
    C: ConnectionTrait,
    &'c C: sea_orm_migration::IntoSchemaManagerConnection<'c>,
{
    if !SchemaManager::new(db).has_table(MIGRATION_TABLE).await.map_err(OpenError::failed)? {
        return Ok(0);
    }
    let names = format!("SELECT version FROM {MIGRATION_TABLE} ORDER BY version");
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), names)).await;
    let names = rows.map_err(OpenError::failed)?.iter().map(|row| row.try_get_by_index::<String>(0)).collect();
    let names: Vec<String> = Result::map_err(names, OpenError::failed)?;
    let known_names: HashSet<String> =
        Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect();
    match names.iter().find(|name| !known_names.contains(*name)) {
        Some(unknown) => Err(OpenError::Newer { known: known(), found: unknown.clone() }),
        None => Ok(u32::try_from(names.len()).unwrap_or(u32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_same_database, known};
    use crate::OpenError;
    use crate::migration::Migrator;
    use crate::testing::engines;
    use sea_orm_migration::MigratorTrait;
    use std::collections::HashSet;
    use std::time::Duration;

    #[tokio::test]
    async fn a_database_that_a_later_version_migrated_is_refused() {
        for engine in engines().await {
            engine.run("INSERT INTO seaql_migrations (version, applied_at) VALUES ('9999_later', 0)").await;
            let database = &engine.database;
            for refused in [
                database.migrate().await.map(drop).unwrap_err(),
                database.require_current().await.unwrap_err(),
                database.schema_version().await.map(drop).unwrap_err(),
            ] {
                assert!(matches!(&refused, OpenError::Newer { found, .. } if found == "9999_later"), "{refused}");
                assert!(refused.to_string().contains("newer"), "{refused}");
            }
        }
    }

    #[tokio::test]
    async fn a_database_is_the_same_under_whatever_name_its_server_has() {
        let timeout = Duration::from_secs(10);
        let [one, other] = [engines().await.remove(1), engines().await.remove(1)].map(|engine| engine.config.url);
        let renamed = |url: &str| url.replace("127.0.0.1", "localhost");
        assert_ne!(renamed(&one), one);
        assert!(is_same_database(&one, &renamed(&one), timeout).await.unwrap());
        assert!(!is_same_database(&one, &renamed(&other), timeout).await.unwrap());
        let nobody = "postgres://nobody@127.0.0.1:1/platen";
        assert!(!is_same_database(&one, nobody, timeout).await.unwrap());
        assert!(!is_same_database(&one, "sqlite::memory:", timeout).await.unwrap());
    }

    #[test]
    fn migrations_have_names_of_their_own() {
        let names: HashSet<String> = Migrator::migrations().iter().map(|one| one.name().to_owned()).collect();
        assert_eq!(u32::try_from(names.len()).unwrap(), known());
    }
}
