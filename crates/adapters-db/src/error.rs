//! Errors of a database, as errors of the domain and as lines for the operator.
//!
//! SQL text stays in the source chain of an error; nothing here shows a password.

use domain::error::{StoreError, WriteError};
use domain::fleet::{FleetConflict, RegistryError};
use sea_orm::sqlx;
use sea_orm::{DbErr, RuntimeErr};
use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

/// Why a database can't be opened or isn't fit for use. Each is one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL of the configuration.
    #[error("the database URL can't be used: {0}")]
    Url(String),
    /// The folder of a database file.
    #[error("the folder {folder} for the database can't be made: {source}")]
    Folder { folder: String, source: std::io::Error },
    /// No server answered any of the tries.
    #[error("the database {database} can't be reached ({tries} tries): {cause}")]
    Unreachable { database: String, tries: u32, cause: String },
    /// The database answered, but refused the connection or can't be used.
    #[error("the database {database} can't be opened: {cause}")]
    Refused { database: String, cause: String },
    /// Another process holds the instance lock.
    #[error("the database {database} is in use; stop what runs over it")]
    InUse { database: String },
    /// The file is missing, and `make_missing` is false.
    #[error("there is no database {database}; platen serve, platen migrate and platen fleet apply make it")]
    NoFile { database: String },
    /// A migration failed; the database is as it was.
    #[error("the database schema can't be brought up to date: {cause}")]
    Migration {
        cause: String,
        #[source]
        source: DbErr,
    },
    /// A later version of the program has migrated this database.
    #[error("the database schema is of a newer version than this program knows ({known}): it has {found}")]
    Newer { known: u32, found: String },
    /// Migrations are pending.
    #[error("the database schema is at version {found}, this program needs {known}; migrate it first")]
    Outdated { known: u32, found: u32 },
    /// The database failed while it was asked for its version.
    #[error("the database can't be asked for its version: {cause}")]
    Failed {
        cause: String,
        #[source]
        source: StoreError,
    },
}

impl OpenError {
    pub(crate) fn failed(error: DbErr) -> Self {
        Self::Failed { cause: cause_of(&error), source: store_error(error) }
    }
}

/// An error that ends a transaction.
pub(crate) trait TransactionError: Send + 'static {
    /// The error of the database, if it is one.
    fn database(&self) -> Option<&DbErr>;
}

impl TransactionError for DbErr {
    fn database(&self) -> Option<&DbErr> {
        Some(self)
    }
}

/// A transaction that failed.
#[derive(Debug)]
pub(crate) struct FailedTransaction<E> {
    pub(crate) error: E,
    /// Whether the failure was that of the commit. Without a commit, nothing is stored.
    pub(crate) in_commit: bool,
}

impl<E> FailedTransaction<E> {
    pub(crate) fn before_commit(error: impl Into<E>) -> Self {
        Self { error: error.into(), in_commit: false }
    }

    pub(crate) fn in_commit(error: impl Into<E>) -> Self {
        Self { error: error.into(), in_commit: true }
    }
}

impl From<DbErr> for FailedTransaction<DbErr> {
    fn from(error: DbErr) -> Self {
        Self::before_commit(error)
    }
}

impl<E: TransactionError> TransactionError for FailedTransaction<E> {
    fn database(&self) -> Option<&DbErr> {
        self.error.database()
    }
}

impl<E: TransactionError> FailedTransaction<E> {
    /// Whether it is certain that nothing was stored.
    pub(crate) fn is_certain(&self) -> bool {
        !self.in_commit || self.error.database().is_some_and(is_refused_commit)
    }
}

/// What fails while the fleet is changed.
#[derive(Debug)]
pub(crate) enum FleetChangeError {
    Conflict(FleetConflict),
    Database(DbErr),
}

impl TransactionError for FleetChangeError {
    fn database(&self) -> Option<&DbErr> {
        match self {
            Self::Conflict(_) => None,
            Self::Database(error) => Some(error),
        }
    }
}

impl From<DbErr> for FleetChangeError {
    fn from(error: DbErr) -> Self {
        Self::Database(error)
    }
}

impl From<FleetConflict> for FleetChangeError {
    fn from(conflict: FleetConflict) -> Self {
        Self::Conflict(conflict)
    }
}

impl From<FleetChangeError> for RegistryError {
    fn from(fault: FleetChangeError) -> Self {
        match fault {
            FleetChangeError::Conflict(conflict) => Self::Conflict(conflict),
            FleetChangeError::Database(error) => Self::Store(store_error(error)),
        }
    }
}

/// The domain's view of a write that failed.
pub(crate) fn write_error(failed: FailedTransaction<DbErr>) -> WriteError {
    let is_certain = failed.is_certain();
    let error = store_error(failed.error);
    if is_certain { WriteError::NotStored(error) } else { WriteError::InDoubt(error) }
}

/// The same for a failure that several callers share.
pub(crate) fn shared_write_error((is_certain, error): (bool, Arc<DbErr>)) -> WriteError {
    let error = if is_unavailable(&error) { StoreError::unavailable(error) } else { StoreError::other(error) };
    if is_certain { WriteError::NotStored(error) } else { WriteError::InDoubt(error) }
}

/// The domain's view of a failure of the database.
pub(crate) fn store_error(error: DbErr) -> StoreError {
    if is_unavailable(&error) { StoreError::unavailable(error) } else { StoreError::other(error) }
}

/// Whether the database refused the rows of a statement and stored none of them. After any other failure they may be
/// stored.
pub(crate) fn is_row_error(error: &DbErr) -> bool {
    sqlx_error(error).is_some_and(|error| match error {
        sqlx::Error::Database(_) | sqlx::Error::Encode(_) => !is_transient(error),
        _ => false,
    })
}

/// Whether the database has answered a commit by a refusal that rolls back. A session that ended or a disk that failed
/// may have committed.
fn is_refused_commit(error: &DbErr) -> bool {
    let Some(sqlx::Error::Database(error)) = sqlx_error(error) else {
        return false;
    };
    error.code().is_some_and(|code| match code.len() {
        // Classes of PostgreSQL: connection, operator intervention, system error, internal error.
        5 => !["08", "57", "58", "XX"].iter().any(|class| code.starts_with(class)),
        // BUSY, FULL, CONSTRAINT of SQLite.
        _ => code.parse::<u32>().is_ok_and(|code| [5, 13, 19].contains(&(code & 0xff))),
    })
}

/// The failure in its own words, without those of the layers above it.
pub(crate) fn cause_of(error: &DbErr) -> String {
    sqlx_error(error).map_or_else(|| error.to_string(), describe)
}

/// The failure of sqlx in one line.
pub(crate) fn describe(error: &sqlx::Error) -> String {
    let text = match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::PoolTimedOut => "no answer in time".to_owned(),
        other => other.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the same call may succeed later: the database can't be reached, is locked, or has no room.
fn is_unavailable(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
        other => sqlx_error(other).is_some_and(is_transient),
    }
}

/// Whether an error of sqlx may pass by itself.
pub(crate) fn is_transient(error: &sqlx::Error) -> bool {
    use sqlx::Error::{Database, Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
    match error {
        Io(_) | Tls(_) | PoolTimedOut | PoolClosed | WorkerCrashed | Protocol(_) => true,
        Database(error) => error.code().is_some_and(|code| is_transient_code(&code)),
        _ => false,
    }
}

/// A code of `SQLite` is a number whose lowest byte is the kind of error; an SQLSTATE of `PostgreSQL` has five
/// characters, the first two its class.
fn is_transient_code(code: &str) -> bool {
    if code.len() == 5 {
        // Classes: connection, resources, operator intervention, conflict. Codes: lock, read-only, cached plan.
        let classes = ["08", "53", "57", "40"];
        return classes.iter().any(|class| code.starts_with(class)) || ["55P03", READ_ONLY, "0A000"].contains(&code);
    }
    // BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN.
    code.parse::<u32>().is_ok_and(|code| [5, 6, 8, 10, 13, 14].contains(&(code & 0xff)))
}

/// The SQLSTATE of a write in a read-only session, such as one to a demoted primary.
const READ_ONLY: &str = "25006";

/// Whether the session of the statement can't be used any more: it is read-only, was ended by the server, lost its
/// connection, or holds a prepared statement that no longer fits the schema.
pub(crate) fn is_session_lost(error: &sqlx::Error) -> bool {
    let ended = [READ_ONLY, "57P01", "57P02", "57P03", "0A000"];
    sqlstate(error).is_some_and(|code| ended.contains(&&*code) || code.starts_with("08"))
}

/// Whether a transaction stored nothing and may succeed when it is run again: it was ended in favour of another one, or
/// its session was read-only.
pub(crate) fn is_retryable(error: &DbErr) -> bool {
    let code = sqlx_error(error).and_then(sqlstate);
    code.is_some_and(|code| ["40001", "40P01", READ_ONLY].contains(&&*code))
}

/// The SQLSTATE of an error of `PostgreSQL`.
fn sqlstate(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    let sqlx::Error::Database(error) = error else {
        return None;
    };
    error.code().filter(|code| code.len() == 5)
}

/// The error of sqlx within an error of sea-orm.
pub(crate) fn sqlx_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => Some(error),
        _ => None,
    }
}

/// A failure that has no error of the database: the text says what.
pub(crate) fn unavailable(what: &'static str) -> StoreError {
    StoreError::unavailable(Box::<dyn Error + Send + Sync>::from(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::caller::OrganizationId;
    use domain::crash_report::CrashReportRepository;
    use domain::resource::{ResourceRepository, StoreOutcome};
    use domain::testing::{a_crash_report, a_resource, at};
    use sea_orm::ConnectionTrait;

    const ACME: OrganizationId = OrganizationId(1);

    /// On `SQLite` a statement finds no room, and the transaction is rolled back.
    #[tokio::test]
    async fn what_a_full_database_refuses_is_certainly_not_stored() {
        let engine = engines().await.remove(0);
        let (resources, reports) = (engine.database.resources(), engine.database.crash_reports());
        engine.db().writes.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
        let mut number = 0;
        let refused = loop {
            number += 1;
            if let Err(error) = resources.store(ACME, a_resource(number), at(0)).await {
                break error;
            }
        };
        assert!(matches!(refused, WriteError::NotStored(StoreError::Unavailable(_))), "{refused:?}");
        let refused = loop {
            number += 1;
            if let Err(error) = reports.add(ACME, a_crash_report(number)).await {
                break error;
            }
        };
        assert!(matches!(refused, WriteError::NotStored(StoreError::Unavailable(_))), "{refused:?}");
    }

    /// A trigger that runs in the commit refuses it or ends its session.
    #[tokio::test]
    async fn a_commit_that_is_refused_is_certain_and_one_whose_session_ends_is_in_doubt() {
        let engine = engines().await.remove(1);
        let (resources, reports) = (engine.database.resources(), engine.database.crash_reports());
        for table in ["resource", "crash_report"] {
            for work in ["RAISE EXCEPTION 'refused'", "PERFORM pg_terminate_backend(pg_backend_pid())"] {
                let body = format!("BEGIN {work}; RETURN NULL; END");
                let function =
                    format!("CREATE OR REPLACE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS '{body}'");
                engine.run(&function.replace("'refused'", "''refused''")).await;
                let event = format!("AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW");
                engine.run(&format!("CREATE CONSTRAINT TRIGGER work {event} EXECUTE FUNCTION work()")).await;
                let outcome = match table {
                    "resource" => resources.store(ACME, a_resource(1), at(0)).await.map(drop),
                    _ => reports.add(ACME, a_crash_report(1)).await,
                };
                let is_certain = matches!(outcome, Err(WriteError::NotStored(_)));
                assert_eq!(is_certain, work.starts_with("RAISE"), "{outcome:?}");
                assert!(is_certain || matches!(outcome, Err(WriteError::InDoubt(_))), "{outcome:?}");
                engine.run(&format!("DROP TRIGGER work ON {table}")).await;
            }
        }
        assert_eq!(resources.store(ACME, a_resource(1), at(0)).await.unwrap(), StoreOutcome::Stored);
    }

    /// The transaction goes on after its caller got an answer.
    #[tokio::test]
    async fn a_write_that_takes_too_long_is_in_doubt() {
        let engine = engines().await.remove(1);
        let config = crate::DatabaseConfig { timeout: std::time::Duration::from_secs(1), ..engine.config.clone() };
        let database = crate::Database::connect(&config).await.unwrap();
        let lock = engine.db().begin().await.unwrap();
        lock.execute_unprepared("LOCK TABLE resource").await.unwrap();
        let late = database.resources().store(ACME, a_resource(1), at(0)).await;
        assert!(matches!(late, Err(WriteError::InDoubt(_))), "{late:?}");
        lock.rollback().await.unwrap();
    }
}
