//! Opens the connection pools of a database.

use crate::database_url::{DatabaseUrl, name_of};
use crate::error::{OpenError, describe, is_session_lost, sqlx_error};
use crate::instance_lock::{try_lock_shared, wait_for_shared_lock};
use crate::resource::lookups::MAX_RUNNING;
use crate::retry::retry;
use sea_orm::sqlx::pool::PoolOptions;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Executor, Row, SqliteConnection};
use sea_orm::{DatabaseConnection, DbBackend, DbErr, SqlxPostgresConnector, SqlxSqliteConnector};
use std::future::ready;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// A connection that was idle for longer is tested before it is used.
const UNTESTED_IDLE: Duration = Duration::from_secs(1);

/// Longest life of a connection to `PostgreSQL`.
const MAX_LIFETIME: Duration = Duration::from_mins(30);

/// Connections to `PostgreSQL` beyond `max_connections`, without a concurrency limit: one for each group commit, one
/// for readiness, and those of the gathered lookups.
const UNLIMITED_CONNECTIONS: u32 = 5 + MAX_RUNNING;

/// Rows that a reader of `SQLite` buffers; each may be as long as a log entry.
const ROW_BUFFER: usize = 8;

/// The connection pools of a database.
pub(crate) struct Pools {
    pub(crate) reads: DatabaseConnection,
    /// On `PostgreSQL` the same pool as `reads`.
    pub(crate) writes: DatabaseConnection,
    pub(crate) lost_sessions: Arc<LostSessions>,
}

/// Remembers when a connection turned out to be unusable, such as one to a demoted primary. The pool closes all
/// connections that are older than that instead of handing them out.
#[derive(Default)]
pub(crate) struct LostSessions(Mutex<Option<Instant>>);

impl LostSessions {
    /// Notes the error of a statement if it says that its session can't be used any more.
    pub(crate) fn report(&self, error: &DbErr) {
        if sqlx_error(error).is_some_and(is_session_lost) {
            self.lost_at().replace(Instant::now());
        }
    }

    /// Whether a session of this age began before the last loss.
    fn includes(&self, age: Duration) -> bool {
        self.lost_at().is_some_and(|lost| age > lost.elapsed())
    }

    fn lost_at(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the pools. `is_exclusive`: the caller holds the instance lock exclusively, so that the connections take none.
pub(crate) async fn open(
    url: &DatabaseUrl,
    max_connections: u32,
    wait: Duration,
    is_exclusive: bool,
) -> Result<Pools, OpenError> {
    match url {
        DatabaseUrl::Memory => {
            // The database lives as long as its one connection.
            let pool = sqlite_pool(1, wait).min_connections(1);
            let pool = retry(url, wait, || pool.clone().connect_with(sqlite(Path::new(":memory:"), wait))).await?;
            let connection = SqlxSqliteConnector::from_sqlx_sqlite_pool(pool);
            Ok(Pools { reads: connection.clone(), writes: connection, lost_sessions: Arc::default() })
        }
        DatabaseUrl::File(path) => open_file(url, path, max_connections, wait).await,
        DatabaseUrl::Postgres(options) => open_postgres(url, options, max_connections, wait, is_exclusive).await,
    }
}

async fn open_file(url: &DatabaseUrl, path: &Path, max_connections: u32, wait: Duration) -> Result<Pools, OpenError> {
    let options = sqlite(path, wait);
    let for_writes = options
        .clone()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // Cuts the write-ahead log that grew during a long read.
        .pragma("journal_size_limit", "67108864");
    let one_writer = || sqlite_pool(1, wait).after_release(|connection, _| Box::pin(ready(Ok(is_idle(connection)))));
    let writes = retry(url, wait, || one_writer().connect_with(for_writes.clone())).await?;
    let for_reads = options.pragma("query_only", "ON").pragma("cache_size", "-1024");
    let reads = sqlite_pool(max_connections, wait).connect_lazy_with(for_reads);
    let connection = SqlxSqliteConnector::from_sqlx_sqlite_pool;
    Ok(Pools { reads: connection(reads), writes: connection(writes), lost_sessions: Arc::default() })
}

/// Whether a connection is outside all transactions; if not, the pool closes it. On a full disk `SQLite` ends a
/// transaction by itself, but sqlx still counts it as open: each following transaction would be nested within it, and
/// nothing of it would be stored although its commit succeeds.
fn is_idle(connection: &SqliteConnection) -> bool {
    !connection.is_in_transaction()
}

fn sqlite(path: &Path, wait: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .busy_timeout(engine_timeout(wait))
        .row_buffer_size(ROW_BUFFER)
        .disable_statement_logging()
}

/// The engine's own timeouts end before those of the caller, so that the error names its cause.
fn engine_timeout(wait: Duration) -> Duration {
    wait * 3 / 4
}

fn sqlite_pool(max_connections: u32, wait: Duration) -> SqlitePoolOptions {
    PoolOptions::<sqlx::Sqlite>::new()
        .max_connections(max_connections)
        .acquire_timeout(engine_timeout(wait))
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

async fn open_postgres(
    url: &DatabaseUrl,
    options: &PgConnectOptions,
    max_connections: u32,
    wait: Duration,
    is_exclusive: bool,
) -> Result<Pools, OpenError> {
    // A first session outside the pool, since the pool would hide why it can't connect.
    let mut first = retry(url, wait, || PgConnection::connect_with(options)).await?;
    let refused = |cause| OpenError::Refused { database: url.name(), cause };
    let failed = |error: sqlx::Error| refused(describe(&error));
    let row = first.fetch_one("SELECT current_setting('server_encoding')").await.map_err(failed)?;
    let encoding: String = row.try_get(0).map_err(failed)?;
    if encoding != "UTF8" {
        return Err(refused(format!("its encoding must be UTF8, it is {encoding}")));
    }
    if shares_sessions(&mut first, options).await.map_err(failed)? {
        return Err(refused(
            "a connection pooler shares its sessions between clients; use pool_mode = session or connect to PostgreSQL"
                .to_owned(),
        ));
    }
    if !is_exclusive {
        wait_for_shared_lock(&mut first).await.map_err(failed)?;
    }
    first.close().await.map_err(failed)?;

    let lost_sessions = Arc::new(LostSessions::default());
    let lost = lost_sessions.clone();
    let pool = PgPoolOptions::new()
        .max_connections(max_connections + UNLIMITED_CONNECTIONS)
        .acquire_timeout(wait / 2)
        .max_lifetime(MAX_LIFETIME)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            Box::pin(async move { if is_exclusive { Ok(()) } else { try_lock_shared(connection).await } })
        })
        .before_acquire(move |connection, state| {
            let is_lost = lost.includes(state.age);
            Box::pin(async move {
                Ok(!is_lost && (state.idle_for < UNTESTED_IDLE || is_writable(connection, wait / 4).await))
            })
        })
        .connect_lazy_with(options.clone());
    let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
    Ok(Pools { reads: connection.clone(), writes: connection, lost_sessions })
}

/// Why no session can be opened; `None` if one can, or if the server doesn't answer. The pool hides the cause: it
/// retries until its timeout.
pub(crate) async fn connect_failure(pool: &DatabaseConnection, wait: Duration) -> Option<String> {
    if pool.get_database_backend() != DbBackend::Postgres {
        return None;
    }
    let options = pool.get_postgres_connection_pool().connect_options();
    match timeout(wait, PgConnection::connect_with(&options)).await {
        Ok(Err(error)) => Some(format!("the database {}: {}", name_of(&options), describe(&error))),
        _ => None,
    }
}

/// Whether two connections are one session of the server. A pooler in transaction mode makes them so; the instance lock
/// and prepared statements need sessions of their own.
async fn shares_sessions(first: &mut PgConnection, options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    const PROCESS: &str = "SELECT pg_backend_pid()";
    let mut second = PgConnection::connect_with(options).await?;
    let ids: [i32; 2] = [first.fetch_one(PROCESS).await?.try_get(0)?, second.fetch_one(PROCESS).await?.try_get(0)?];
    second.close().await?;
    Ok(ids[0] == ids[1])
}

/// Whether a session answers in time and takes writes. One of a demoted primary answers, but is read-only.
async fn is_writable(session: &mut PgConnection, wait: Duration) -> bool {
    let is_writable = async { session.fetch_one("SHOW transaction_read_only").await?.try_get::<String, _>(0) };
    matches!(timeout(wait, is_writable).await, Ok(Ok(read_only)) if read_only == "off")
}

#[cfg(test)]
mod tests {
    use crate::testing::engines;
    use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

    async fn pragma(connection: &DatabaseConnection, name: &str) -> String {
        let ask = Statement::from_string(DbBackend::Sqlite, format!("PRAGMA {name}"));
        let row = connection.query_one_raw(ask).await.unwrap().unwrap();
        row.try_get_by_index::<String>(0).or_else(|_| row.try_get_by_index::<i64>(0).map(|n| n.to_string())).unwrap()
    }

    /// Decision L9: what was answered 200 is on the disk.
    #[tokio::test]
    async fn sqlite_syncs_each_commit_and_readers_cannot_write() {
        let engines = engines().await;
        let core = engines[0].db();
        for (name, writes, reads) in [
            ("journal_mode", "wal", "wal"),
            ("synchronous", "2", "2"),
            ("foreign_keys", "1", "1"),
            ("busy_timeout", "22500", "22500"),
            ("query_only", "0", "1"),
        ] {
            assert_eq!(pragma(&core.writes, name).await, writes, "{name}");
            assert_eq!(pragma(&core.reads, name).await, reads, "{name}");
        }
        assert!(core.reads.execute_unprepared("DELETE FROM resource").await.is_err());
    }
}
