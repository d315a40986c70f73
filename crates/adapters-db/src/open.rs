//! Opens the connections to a database.

use crate::error::{OpenError, describe, may_pass};
use crate::instance_lock::{enter, wait_to_enter};
use crate::url::Place;
use sea_orm::sqlx::pool::PoolOptions;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Executor, Row, SqliteConnection};
use sea_orm::{DatabaseConnection, SqlxPostgresConnector, SqlxSqliteConnector};
use std::future::{Future, ready};
use std::path::Path;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How often a database that doesn't answer is tried, and the pause after the first try; each
/// following pause is twice as long.
const TRIES: u32 = 6;
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// A connection that was idle for longer is tested before it is used: the server may have gone.
pub(crate) const TRUSTED: Duration = Duration::from_secs(1);

/// Rows that a reader of `SQLite` may be ahead of us; each may be as long as a log entry can be.
const ROWS_AHEAD: usize = 8;

/// The two ways into a database.
pub(crate) struct Pools {
    pub(crate) reads: DatabaseConnection,
    pub(crate) writes: DatabaseConnection,
}

/// `is_alone`: whoever asks already keeps others out.
pub(crate) async fn open(place: &Place, max: u32, timeout: Duration, is_alone: bool) -> Result<Pools, OpenError> {
    match place {
        Place::Memory => {
            // The database lives as long as its one connection.
            let pool = sqlite_pool(1, timeout).min_connections(1);
            let pool =
                tried(place, timeout, || pool.clone().connect_with(sqlite(Path::new(":memory:"), timeout))).await?;
            let connection = SqlxSqliteConnector::from_sqlx_sqlite_pool(pool);
            Ok(Pools { reads: connection.clone(), writes: connection })
        }
        Place::File(path) => open_file(place, path, max, timeout).await,
        Place::Postgres(options) => open_postgres(place, options, max, timeout, is_alone).await,
    }
}

async fn open_file(place: &Place, path: &Path, max: u32, timeout: Duration) -> Result<Pools, OpenError> {
    let options = sqlite(path, timeout);
    let for_writes = options
        .clone()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // Where a long read has let the log grow, it is cut again.
        .pragma("journal_size_limit", "67108864");
    // One writer: several would only get in each other's way.
    let one_writer = || sqlite_pool(1, timeout).after_release(|connection, _| Box::pin(ready(Ok(is_idle(connection)))));
    let writes = tried(place, timeout, || one_writer().connect_with(for_writes.clone())).await?;
    let for_reads = options.pragma("query_only", "ON").pragma("cache_size", "-1024");
    let reads = sqlite_pool(max, timeout).connect_lazy_with(for_reads);
    let connection = SqlxSqliteConnector::from_sqlx_sqlite_pool;
    Ok(Pools { reads: connection(reads), writes: connection(writes) })
}

/// Whether a connection is out of all transactions; if not, the pool closes it. Where a full disk makes `SQLite`
/// end a transaction by itself, sqlx counts on as if it went on: each following one would be nested within it,
/// its commit would succeed, and nothing of it would ever be stored.
fn is_idle(connection: &SqliteConnection) -> bool {
    !connection.is_in_transaction()
}

fn sqlite(path: &Path, timeout: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        // Ends before our own wait does, so that the failure names its cause and the write can't follow it.
        .busy_timeout(named_in(timeout))
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging()
}

/// What the engine or the pool waits for ends before our own timeout does, so that its error, which names
/// the cause, is the one that is told.
pub(crate) fn named_in(timeout: Duration) -> Duration {
    timeout * 3 / 4
}

fn sqlite_pool(max: u32, timeout: Duration) -> SqlitePoolOptions {
    PoolOptions::<sqlx::Sqlite>::new()
        .max_connections(max)
        .acquire_timeout(named_in(timeout))
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

async fn open_postgres(
    place: &Place,
    options: &PgConnectOptions,
    max: u32,
    timeout: Duration,
    is_alone: bool,
) -> Result<Pools, OpenError> {
    // A first connection outside the pool: the pool would try in its own way and hide why it failed.
    let encoding = tried(place, timeout, || async {
        let mut connection = PgConnection::connect_with(options).await?;
        let row = connection.fetch_one("SELECT current_setting('server_encoding')").await?;
        Ok((connection, row.try_get::<String, _>(0)?))
    });
    let (mut first, encoding) = encoding.await?;
    if encoding != "UTF8" {
        let cause = format!("its encoding must be UTF8, it is {encoding}");
        return Err(OpenError::Refused { place: place.name(), cause });
    }
    let refused = |error: sqlx::Error| OpenError::Refused { place: place.name(), cause: describe(&error) };
    if !is_alone {
        wait_to_enter(&mut first).await.map_err(refused)?;
    }
    first.close().await.map_err(refused)?;
    let pool = PgPoolOptions::new()
        .max_connections(max)
        // As long as those have left who had to wait for their turn.
        .acquire_timeout(timeout / 2)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            Box::pin(async move { if is_alone { Ok(()) } else { enter(connection).await } })
        })
        .before_acquire(move |connection, state| {
            Box::pin(async move {
                let is_trusted = state.idle_for < TRUSTED;
                Ok(is_trusted || answers(connection, timeout).await)
            })
        })
        .connect_lazy_with(options.clone());
    let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
    Ok(Pools { reads: connection.clone(), writes: connection })
}

/// Whether anybody is still there, which must be known in time to make a new connection.
pub(crate) async fn answers(connection: &mut PgConnection, max_wait: Duration) -> bool {
    matches!(timeout(max_wait / 4, connection.ping()).await, Ok(Ok(())))
}

/// Tries a bounded number of times, as long as the failure is one that may pass.
pub(crate) async fn tried<T, F>(place: &Place, max_wait: Duration, open: impl Fn() -> F) -> Result<T, OpenError>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let mut pause = PAUSE;
    let mut tries = 1;
    loop {
        let error = match timeout(max_wait, open()).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(error)) => error,
            Err(_) => sqlx::Error::PoolTimedOut,
        };
        if !may_pass(&error) {
            return Err(OpenError::Refused { place: place.name(), cause: describe(&error) });
        }
        if tries == TRIES {
            return Err(OpenError::Unreachable { place: place.name(), tries, cause: describe(&error) });
        }
        let (place, cause) = (place.name(), describe(&error));
        tracing::warn!(place, tries, cause, "the database can't be reached yet");
        sleep(pause).await;
        pause *= 2;
        tries += 1;
    }
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
    async fn sqlite_writes_ahead_fully_synchronised_and_reads_only_read() {
        let engines = engines().await;
        let db = engines[0].db();
        for (name, writes, reads) in [
            ("journal_mode", "wal", "wal"),
            ("synchronous", "2", "2"),
            ("foreign_keys", "1", "1"),
            ("busy_timeout", "22500", "22500"),
            ("query_only", "0", "1"),
        ] {
            assert_eq!(pragma(&db.writes, name).await, writes, "{name}");
            assert_eq!(pragma(&db.reads, name).await, reads, "{name}");
        }
        assert!(db.reads.execute_unprepared("DELETE FROM resource").await.is_err());
    }
}
