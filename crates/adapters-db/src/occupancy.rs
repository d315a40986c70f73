//! Whether somebody else has a database open. For commands that need it to themselves; not a lock: who
//! comes later isn't kept out.

use crate::error::OpenError;
use crate::open::{sqlite, tried};
use crate::url::Place;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor, Row, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// Sessions of our program in this database, but for the one that asks.
const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = current_setting('application_name')
        AND pid <> pg_backend_pid()";

/// The session of a process that has just ended takes a moment to go.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// Whoever has a database file open keeps it open: there is nothing to wait for.
const FILE_PATIENCE: Duration = Duration::from_millis(500);

pub(crate) async fn is_in_use(place: &Place, patience: Duration) -> Result<bool, OpenError> {
    match place {
        Place::Memory => Ok(false),
        Place::File(path) if !path.exists() => Ok(false),
        Place::File(path) => tried(place, patience, || is_file_in_use(path)).await,
        Place::Postgres(options) => tried(place, patience, || has_sessions(options)).await,
    }
}

async fn has_sessions(options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    let mut connection = PgConnection::connect_with(options).await?;
    let mut sessions: i64 = 0;
    for look in 0..LOOKS {
        if look > 0 {
            sleep(PAUSE).await;
        }
        sessions = connection.fetch_one(SESSIONS).await?.try_get(0)?;
        if sessions == 0 {
            break;
        }
    }
    connection.close().await?;
    Ok(sessions > 0)
}

/// A database file leaves write-ahead mode only for its last user; opening it for use takes the mode up
/// again.
async fn is_file_in_use(path: &Path) -> Result<bool, sqlx::Error> {
    let mut connection = SqliteConnection::connect_with(&sqlite(path, FILE_PATIENCE)).await?;
    let left = connection.fetch_one("PRAGMA journal_mode = DELETE").await;
    connection.close().await?;
    match left.and_then(|row| row.try_get::<String, _>(0)) {
        Ok(mode) => Ok(mode == "wal"),
        Err(sqlx::Error::Database(error)) if is_locked(error.code().as_deref()) => Ok(true),
        Err(error) => Err(error),
    }
}

/// BUSY and LOCKED, whatever their particulars.
fn is_locked(code: Option<&str>) -> bool {
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| [5, 6].contains(&(code & 0xff)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use crate::{Database, DatabaseConfig};

    #[tokio::test]
    async fn a_database_is_in_use_as_long_as_somebody_has_it_open() {
        for engine in engines().await {
            let config = engine.config.clone();
            // A pool opens its connections when they are needed.
            engine.database.ping().await.unwrap();
            assert!(Database::is_in_use(&config).await.unwrap(), "{}", engine.name);
            engine.database.clone().close().await;
            assert!(!Database::is_in_use(&config).await.unwrap(), "{}", engine.name);
            let again = Database::connect(&config).await.unwrap();
            again.require_current().await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_is_not_made() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("none.db");
        let url = format!("sqlite://{}", path.display());
        let config = DatabaseConfig { url, max_connections: 1, acquire_timeout: Duration::from_secs(5) };
        assert!(!Database::is_in_use(&config).await.unwrap());
        assert!(!path.exists());
    }
}
