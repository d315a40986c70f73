//! Who has a database open, and how a command gets it to itself.
//!
//! A file has a lock file beside it, which everybody who opens the database locks, shared or alone, and one that
//! a server locks. On `PostgreSQL` each session of the program holds an advisory lock, shared or alone.

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
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::sleep;

/// Each session in a `PostgreSQL` database holds this advisory lock ("platen", as a number, and 2): shared, or
/// whoever has the database alone.
const ENTER: &str = "SELECT pg_try_advisory_lock_shared(31644363212025346)";
const ENTER_ALONE: &str = "SELECT pg_try_advisory_lock(31644363212025346)";

/// The session of a process that has just ended takes a moment to go.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// What tells others that a database is open.
pub(crate) enum InstanceLock {
    /// The lock of a file, shared or not.
    File { database: PathBuf, lock: File, serving: OnceLock<File> },
    /// The session that keeps others out; `None` once they may come.
    Alone(Mutex<Option<PgConnection>>),
    /// Each session has its own lock, or there are no others.
    None,
}

impl InstanceLock {
    /// Opens a database beside others.
    pub(crate) fn shared(place: &Place) -> Result<Self, OpenError> {
        match place {
            Place::File(path) => lock(place, path, File::try_lock_shared),
            Place::Memory | Place::Postgres(_) => Ok(Self::None),
        }
    }

    /// Opens a database that nobody else has open, and lets nobody else in until it is closed.
    pub(crate) async fn alone(place: &Place, timeout: Duration) -> Result<Self, OpenError> {
        match place {
            Place::Memory => Ok(Self::None),
            Place::File(path) => lock(place, path, File::try_lock),
            Place::Postgres(options) => match tried(place, timeout, || only_session(options)).await? {
                Some(session) => Ok(Self::Alone(Mutex::new(Some(session)))),
                None => Err(OpenError::InUse { place: place.name() }),
            },
        }
    }

    /// Whether others are kept out.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, Self::Alone(_))
    }

    /// Whether others were kept out until now: a session may be lost, and its lock with it.
    pub(crate) async fn confirm(&self) -> Result<(), StoreError> {
        match self {
            Self::Alone(session) => match &mut *session.lock().await {
                Some(session) => session.ping().await.map_err(StoreError::unavailable),
                None => Err(unavailable("the database was closed")),
            },
            Self::File { .. } | Self::None => Ok(()),
        }
    }

    /// Makes this process the one that serves the file, until it is closed; `false` if another does already. Where it
    /// can't be told, nobody is kept from serving.
    pub(crate) fn claim_serving(&self) -> bool {
        let Self::File { database, serving, .. } = self else {
            return true;
        };
        let Ok(file) = open_beside(database, "-serving") else {
            return true;
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => true,
            Ok(()) => serving.set(file).is_ok(),
        }
    }

    /// Lets others in.
    pub(crate) async fn release(&self) {
        let released = match self {
            Self::File { lock, serving, .. } => {
                let released = [Some(lock), serving.get()].into_iter().flatten().try_for_each(File::unlock);
                released.map_err(sqlx::Error::from)
            }
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
fn lock(
    place: &Place,
    database: &Path,
    take: fn(&File) -> Result<(), TryLockError>,
) -> Result<InstanceLock, OpenError> {
    // However it is named: a link must not have a lock file of its own.
    let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let lock = open_beside(&database, "-lock")?;
    match take(&lock) {
        // A file system without locks tells nobody who has the database open.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(InstanceLock::File { database, lock, serving: OnceLock::new() }),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { place: place.name() }),
    }
}

/// Opens the file beside a database that has its name and this ending.
fn open_beside(database: &Path, ending: &str) -> Result<File, OpenError> {
    let path = beside(database, ending);
    let opened = File::options().create(true).write(true).truncate(false).open(&path);
    let file =
        opened.map_err(|error| OpenError::Refused { place: path.display().to_string(), cause: error.to_string() })?;
    give_to_owner(&file, database);
    Ok(file)
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

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(ending);
    PathBuf::from(name)
}

/// A session that holds the lock, if there is no other.
async fn only_session(options: &PgConnectOptions) -> Result<Option<PgConnection>, sqlx::Error> {
    let mut session = PgConnection::connect_with(options).await?;
    for look in 0..LOOKS {
        if look > 0 {
            sleep(PAUSE).await;
        }
        if session.fetch_one(ENTER_ALONE).await?.try_get(0)? {
            return Ok(Some(session));
        }
    }
    session.close().await?;
    Ok(None)
}

/// Takes the lock of a session beside others.
///
/// # Errors
/// Somebody has the database alone.
pub(crate) async fn enter(session: &mut PgConnection) -> Result<(), sqlx::Error> {
    if session.fetch_one(ENTER).await?.try_get(0)? {
        return Ok(());
    }
    Err(sqlx::Error::Protocol("the database is being copied".to_owned()))
}

/// Waits until nobody has the database alone.
pub(crate) async fn wait_to_enter(session: &mut PgConnection) -> Result<(), sqlx::Error> {
    let mut told = false;
    while !session.fetch_one(ENTER).await?.try_get(0)? {
        if !told {
            tracing::warn!("waiting for another process that copies this database");
        }
        told = true;
        sleep(PAUSE).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{InstanceLock, beside};
    use crate::testing::engines;
    use crate::url::Place;
    use crate::{Database, DatabaseConfig, OpenError};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::time::Duration;
    use tokio::time::{sleep, timeout};

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
        drop(InstanceLock::shared(&place).unwrap());
        assert_eq!(owner(&beside(&database, "-lock")), owner(&database));
    }

    #[tokio::test]
    async fn a_second_server_learns_that_a_file_is_served() {
        let engine = engines().await.remove(0);
        let other = Database::connect(&engine.config).await.unwrap();
        assert!(engine.database.claim_serving());
        assert!(!other.claim_serving());
        engine.database.clone().close().await;
        assert!(other.claim_serving());
    }

    #[tokio::test]
    async fn a_server_whose_sessions_have_ended_does_not_come_in_again_meanwhile() {
        let engine = engines().await.remove(1);
        engine.database.clone().close().await;
        let config = DatabaseConfig { acquire_timeout: Duration::from_secs(2), ..engine.config.clone() };
        let database = Database::connect(&config).await.unwrap();
        database.ping().await.unwrap();
        // As after a restart of the database.
        let pool = database.db().writes.get_postgres_connection_pool();
        while pool.size() > 0 {
            match pool.try_acquire() {
                Some(session) => session.close().await.unwrap(),
                None => sleep(Duration::from_millis(10)).await,
            }
        }
        let alone = Database::connect_alone(&engine.config).await.unwrap();
        database.ping().await.unwrap_err();
        alone.confirm_alone().await.unwrap();
        alone.close().await;
        database.ping().await.unwrap();
    }

    #[tokio::test]
    async fn a_database_file_is_the_same_by_whatever_name() {
        let engine = engines().await.remove(0);
        let folder = tempfile::TempDir::new().unwrap();
        let link = folder.path().join("link.db");
        let path = engine.config.url.strip_prefix("sqlite://").unwrap();
        std::os::unix::fs::symlink(path, &link).unwrap();
        let config = DatabaseConfig { url: format!("sqlite://{}", link.display()), ..engine.config.clone() };
        let refused = Database::connect_alone(&config).await.map(drop).unwrap_err();
        assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
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
