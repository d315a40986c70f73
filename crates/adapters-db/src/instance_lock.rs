//! The lock that says which processes have a database open.
//!
//! Any number of processes open a database together; a command such as `platen copy` opens it exclusively. For a
//! `SQLite` file the lock is a file next to the database, locked by the process. On `PostgreSQL` it is an advisory lock
//! that each session of the pool holds shared, or one session holds exclusively (ADR 52).

use crate::database_url::DatabaseUrl;
use crate::error::{OpenError, describe, unavailable};
use crate::retry::retry;
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

/// The key of the advisory lock is "platen" as a number, and 2.
const LOCK_SHARED: &str = "SELECT pg_try_advisory_lock_shared(31644363212025346)";
const LOCK_EXCLUSIVELY: &str = "SELECT pg_try_advisory_lock(31644363212025346)";

/// Tries for the exclusive lock: the sessions of a process that has just ended last a moment longer.
const MAX_TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// The lock of this process.
pub(crate) enum InstanceLock {
    /// `lock` is shared or exclusive; `serving` is exclusive, and held by a server.
    File { database: PathBuf, lock: File, serving: OnceLock<File> },
    /// The session that holds the exclusive lock; `None` after it was released.
    Exclusive(Mutex<Option<PgConnection>>),
    /// The sessions of the pool hold it, or no other process can open the database.
    None,
}

impl InstanceLock {
    /// Takes the lock together with other processes.
    pub(crate) fn shared(url: &DatabaseUrl) -> Result<Self, OpenError> {
        match url {
            DatabaseUrl::File(path) => lock_file(url, path, File::try_lock_shared),
            DatabaseUrl::Memory | DatabaseUrl::Postgres(_) => Ok(Self::None),
        }
    }

    /// Takes the lock while no other process holds it, and keeps others out until it is released.
    pub(crate) async fn exclusive(url: &DatabaseUrl, wait: Duration) -> Result<Self, OpenError> {
        match url {
            DatabaseUrl::Memory => Ok(Self::None),
            DatabaseUrl::File(path) => lock_file(url, path, File::try_lock),
            DatabaseUrl::Postgres(options) => match retry(url, wait, || lock_exclusively(options)).await? {
                Some(session) => Ok(Self::Exclusive(Mutex::new(Some(session)))),
                None => Err(OpenError::InUse { database: url.name() }),
            },
        }
    }

    /// Whether a session of this process holds the exclusive lock of a `PostgreSQL` database.
    pub(crate) fn is_exclusive_session(&self) -> bool {
        matches!(self, Self::Exclusive(_))
    }

    /// Checks that the exclusive lock was not lost, as it is with its session.
    pub(crate) async fn confirm(&self) -> Result<(), StoreError> {
        match self {
            Self::Exclusive(session) => match &mut *session.lock().await {
                Some(session) => session.ping().await.map_err(StoreError::unavailable),
                None => Err(unavailable("the database was closed")),
            },
            Self::File { .. } | Self::None => Ok(()),
        }
    }

    /// Makes this process the server of a `SQLite` file until the lock is released; `false` if another process is. A
    /// file system without locks doesn't prevent serving.
    pub(crate) fn claim_serving(&self) -> bool {
        let Self::File { database, serving, .. } = self else {
            return true;
        };
        let Ok(file) = open_lock_file(database, "-serving") else {
            return true;
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => true,
            Ok(()) => serving.set(file).is_ok(),
        }
    }

    /// Lets other processes take the lock.
    pub(crate) async fn release(&self) {
        let released = match self {
            Self::File { lock, serving, .. } => {
                let released = [Some(lock), serving.get()].into_iter().flatten().try_for_each(File::unlock);
                released.map_err(sqlx::Error::from)
            }
            Self::Exclusive(session) => match session.lock().await.take() {
                Some(session) => session.close().await,
                None => Ok(()),
            },
            Self::None => Ok(()),
        };
        if let Err(error) = released {
            tracing::warn!(error = %describe(&error), "the instance lock of the database could not be released");
        }
    }
}

/// Locks the file next to the database. It is never deleted: another process may have just locked it.
fn lock_file(
    url: &DatabaseUrl,
    database: &Path,
    take: fn(&File) -> Result<(), TryLockError>,
) -> Result<InstanceLock, OpenError> {
    // A link and its target share one lock file.
    let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let lock = open_lock_file(&database, "-lock")?;
    match take(&lock) {
        // A file system without locks can't tell who has the database open.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(InstanceLock::File { database, lock, serving: OnceLock::new() }),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { database: url.name() }),
    }
}

fn open_lock_file(database: &Path, suffix: &str) -> Result<File, OpenError> {
    let path = with_suffix(database, suffix);
    let file = File::options().create(true).write(true).truncate(false).open(&path);
    let file =
        file.map_err(|error| OpenError::Refused { database: path.display().to_string(), cause: error.to_string() })?;
    give_to_owner(&file, database);
    Ok(file)
}

/// Gives a lock file that root created to the owner of the database, as `SQLite` does with its own files: a command
/// of the operator must not keep the service out.
fn give_to_owner(lock: &File, database: &Path) {
    let (Ok(of_database), Ok(of_lock)) = (database.metadata(), lock.metadata()) else {
        return;
    };
    let owner = |metadata: &Metadata| (metadata.uid(), metadata.gid());
    let (user, group) = owner(&of_database);
    if owner(&of_lock) != (user, group) {
        // Only root can do this; for others the file stays as it is.
        let given =
            fchown(lock, Some(user), Some(group)).and_then(|()| lock.set_permissions(of_database.permissions()));
        drop(given);
    }
}

fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    PathBuf::from(name)
}

async fn lock_exclusively(options: &PgConnectOptions) -> Result<Option<PgConnection>, sqlx::Error> {
    let mut session = PgConnection::connect_with(options).await?;
    for attempt in 0..MAX_TRIES {
        if attempt > 0 {
            sleep(PAUSE).await;
        }
        if session.fetch_one(LOCK_EXCLUSIVELY).await?.try_get(0)? {
            return Ok(Some(session));
        }
    }
    session.close().await?;
    Ok(None)
}

/// Takes the shared lock for a session.
///
/// # Errors
/// Another process holds the exclusive lock.
pub(crate) async fn try_lock_shared(session: &mut PgConnection) -> Result<(), sqlx::Error> {
    if session.fetch_one(LOCK_SHARED).await?.try_get(0)? {
        return Ok(());
    }
    Err(sqlx::Error::Protocol("the database is being copied".to_owned()))
}

/// Waits for the shared lock as long as another process holds the exclusive one.
pub(crate) async fn wait_for_shared_lock(session: &mut PgConnection) -> Result<(), sqlx::Error> {
    let mut warned = false;
    while !session.fetch_one(LOCK_SHARED).await?.try_get(0)? {
        if !warned {
            tracing::warn!("waiting for another process that copies this database");
        }
        warned = true;
        sleep(PAUSE).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{InstanceLock, with_suffix};
    use crate::database_url::DatabaseUrl;
    use crate::testing::engines;
    use crate::{Database, DatabaseConfig, OpenError};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::time::Duration;
    use tokio::time::{sleep, timeout};

    #[tokio::test]
    async fn a_database_is_not_opened_exclusively_while_another_process_has_it_open() {
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
    fn a_lock_file_belongs_to_the_owner_of_the_database() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("platen.db");
        let url = DatabaseUrl::File(database.clone());
        std::fs::write(&database, "").unwrap();
        let owner = |path: &Path| path.metadata().map(|metadata| (metadata.uid(), metadata.gid())).unwrap();
        // Only root can give a file away; for others both are their own.
        let _ = std::os::unix::fs::chown(&database, Some(65534), Some(65534));
        drop(InstanceLock::shared(&url).unwrap());
        assert_eq!(owner(&with_suffix(&database, "-lock")), owner(&database));
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
    async fn a_server_whose_sessions_ended_gets_no_new_ones_during_a_copy() {
        let engine = engines().await.remove(1);
        engine.database.clone().close().await;
        let config = DatabaseConfig { timeout: Duration::from_secs(2), ..engine.config.clone() };
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
    async fn a_database_that_is_open_exclusively_is_not_opened_by_others() {
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
