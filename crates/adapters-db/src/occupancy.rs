//! Who has a database open, and how a command gets it to itself.
//!
//! A file has a lock file beside it, which everybody who opens the database locks, shared or alone. On
//! `PostgreSQL` everybody is seen by the sessions of the program, and nobody comes in while another
//! holds the lock that migrations take: each start of the program goes through them.

use crate::error::{OpenError, describe, unavailable};
use crate::open::tried;
use crate::url::Place;
use domain::error::StoreError;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor, Row};
use std::ffi::OsString;
use std::fs::{File, Metadata, TryLockError};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::sleep;

/// Whoever migrates a `PostgreSQL` database, or has it alone, holds this advisory lock: "platen", as a number.
pub(crate) const MIGRATION_LOCK: i64 = 0x0070_6c61_7465_6e00;

/// Sessions of our program in this database, but for the one that asks.
const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = current_setting('application_name')
        AND pid <> pg_backend_pid()";

/// The session of a process that has just ended takes a moment to go.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// What tells others that a database is open.
pub(crate) enum Presence {
    /// The lock of a file, shared or not.
    File(File),
    /// The session that keeps others out; `None` once they may come.
    Alone(Mutex<Option<PgConnection>>),
    /// Others see our sessions, or there are no others.
    None,
}

impl Presence {
    /// Opens a database beside others.
    pub(crate) fn shared(place: &Place) -> Result<Self, OpenError> {
        match place {
            Place::File(path) => lock(place, path, File::try_lock_shared),
            Place::Memory | Place::Postgres(_) => Ok(Self::None),
        }
    }

    /// Opens a database that nobody else has open, and lets nobody else in until it is closed.
    pub(crate) async fn alone(place: &Place, patience: Duration) -> Result<Self, OpenError> {
        match place {
            Place::Memory => Ok(Self::None),
            Place::File(path) => lock(place, path, File::try_lock),
            Place::Postgres(options) => match tried(place, patience, || only_session(options)).await? {
                Some(session) => Ok(Self::Alone(Mutex::new(Some(session)))),
                None => Err(OpenError::InUse { place: place.name() }),
            },
        }
    }

    /// Whether it keeps those out who would migrate.
    pub(crate) fn holds_migrations(&self) -> bool {
        matches!(self, Self::Alone(_))
    }

    /// Whether others were kept out until now: a session may be lost, and its lock with it.
    pub(crate) async fn confirm(&self) -> Result<(), StoreError> {
        match self {
            Self::Alone(session) => match &mut *session.lock().await {
                Some(session) => session.ping().await.map_err(StoreError::unavailable),
                None => Err(unavailable("the database was closed")),
            },
            Self::File(_) | Self::None => Ok(()),
        }
    }

    /// Lets others in.
    pub(crate) async fn release(&self) {
        let released = match self {
            Self::File(file) => file.unlock().map_err(sqlx::Error::from),
            Self::Alone(session) => match session.lock().await.take() {
                Some(session) => session.close().await,
                None => Ok(()),
            },
            Self::None => Ok(()),
        };
        if let Err(error) = released {
            tracing::warn!(error = %describe(&error), "the database didn't close in order");
        }
    }
}

/// The lock file of a database stays when the database is closed: whoever removed it could remove one
/// that another has just locked.
fn lock(place: &Place, database: &Path, take: fn(&File) -> Result<(), TryLockError>) -> Result<Presence, OpenError> {
    let path = lock_file(database);
    let opened = File::options().create(true).write(true).truncate(false).open(&path);
    let file =
        opened.map_err(|error| OpenError::Refused { place: path.display().to_string(), cause: error.to_string() })?;
    give_to_owner(&file, database);
    match take(&file) {
        // A file system without locks tells nobody who has the database open.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Presence::File(file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { place: place.name() }),
    }
}

/// A lock file that root has made, by a command of the operator, must not keep the service out. `SQLite` does
/// the same with its own files.
fn give_to_owner(lock: &File, database: &Path) {
    let (Ok(of_database), Ok(of_lock)) = (database.metadata(), lock.metadata()) else {
        return;
    };
    let owner = |metadata: &Metadata| (metadata.uid(), metadata.gid());
    let (user, group) = owner(&of_database);
    if owner(&of_lock) != (user, group) {
        // Only root may; for others it is as it was.
        let given =
            fchown(lock, Some(user), Some(group)).and_then(|()| lock.set_permissions(of_database.permissions()));
        drop(given);
    }
}

fn lock_file(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-lock");
    PathBuf::from(name)
}

/// A session that holds the lock, if there is no other.
async fn only_session(options: &PgConnectOptions) -> Result<Option<PgConnection>, sqlx::Error> {
    let mut session = PgConnection::connect_with(options).await?;
    let take = format!("SELECT pg_try_advisory_lock({MIGRATION_LOCK})");
    for look in 0..LOOKS {
        if look > 0 {
            sleep(PAUSE).await;
        }
        // In this order: who comes in between waits for the lock, and is seen.
        let locked: bool = session.fetch_one(sqlx::AssertSqlSafe(take.as_str())).await?.try_get(0)?;
        if !locked {
            continue;
        }
        let others: i64 = session.fetch_one(SESSIONS).await?.try_get(0)?;
        if others == 0 {
            return Ok(Some(session));
        }
        session.execute("SELECT pg_advisory_unlock_all()").await?;
    }
    session.close().await?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{Presence, lock_file};
    use crate::testing::engines;
    use crate::url::Place;
    use crate::{Database, OpenError};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_database_is_opened_alone_by_nobody_as_long_as_another_has_it_open() {
        for engine in engines().await {
            let config = engine.config.clone();
            // A pool opens its connections when they are needed.
            engine.database.ping().await.unwrap();
            let refused = Database::connect_alone(&config).await.map(drop).unwrap_err();
            assert!(matches!(refused, OpenError::InUse { .. }), "{}: {refused}", engine.name);
            engine.database.clone().close().await;
            let alone = Database::connect_alone(&config).await.unwrap();
            alone.migrate().await.unwrap();
            alone.confirm_alone().await.unwrap();
            alone.close().await;
            let again = Database::connect(&config).await.unwrap();
            again.migrate().await.unwrap();
        }
    }

    #[test]
    fn a_lock_file_belongs_to_whom_the_database_belongs() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("platen.db");
        let place = Place::File(database.clone());
        std::fs::write(&database, "").unwrap();
        let owner = |path: &Path| path.metadata().map(|metadata| (metadata.uid(), metadata.gid())).unwrap();
        // Only root can give a file away; for others both are their own.
        let _ = std::os::unix::fs::chown(&database, Some(65534), Some(65534));
        drop(Presence::shared(&place).unwrap());
        assert_eq!(owner(&lock_file(&database)), owner(&database));
    }

    #[tokio::test]
    async fn nobody_comes_in_while_a_database_is_open_alone() {
        for engine in engines().await {
            let config = engine.config.clone();
            engine.database.clone().close().await;
            let alone = Database::connect_alone(&config).await.unwrap();
            let other = async {
                let other = Database::connect(&config).await?;
                other.migrate().await.map(|_| other)
            };
            let mut other = Box::pin(other);
            match timeout(Duration::from_secs(1), &mut other).await {
                Ok(Err(OpenError::InUse { .. })) => assert_eq!(engine.name, "SQLite"),
                Err(_) => assert_eq!(engine.name, "PostgreSQL", "it waits as for a migration"),
                Ok(Err(error)) => panic!("{}: {error}", engine.name),
                Ok(Ok(_)) => panic!("{}: it came in", engine.name),
            }
            alone.close().await;
            if engine.name == "PostgreSQL" {
                other.await.unwrap();
            }
        }
    }
}
