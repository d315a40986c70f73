//! The connections to one database, and how repositories read and write through them.

use crate::concurrency_limit::{ConcurrencyLimit, Permit};
use crate::connect::LostSessions;
use crate::entity::fleet_version;
use crate::error::{FailedTransaction, TransactionError, is_retryable, store_error, unavailable, write_error};
use crate::fleet_cache::{FleetCache, FleetVersion};
use crate::instance_lock::InstanceLock;
use domain::error::{StoreError, WriteError};
use futures_util::future::BoxFuture;
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, EntityTrait, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait, Value,
};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How often a transaction is tried that fails with a retryable error.
const MAX_TRIES: u32 = 10;

/// What to do once the work of a transaction is done.
#[derive(Clone, Copy)]
enum End {
    Commit,
    Rollback,
}

/// The connections to one database.
pub(crate) struct Connections {
    pub(crate) reads: DatabaseConnection,
    /// On `SQLite` a pool of one connection, since it has one writer; on `PostgreSQL` the same pool as `reads`.
    pub(crate) writes: DatabaseConnection,
    pub(crate) read_limit: Arc<ConcurrencyLimit>,
    pub(crate) write_limit: Arc<ConcurrencyLimit>,
    pub(crate) backend: DbBackend,
    pub(crate) fleet_cache: FleetCache,
    /// Where writes run to completion, even if the task that asked for them ends.
    pub(crate) runtime: Handle,
    /// Longest wait of a caller: for a permit, a connection and the answer together.
    pub(crate) timeout: Duration,
    pub(crate) lost_sessions: Arc<LostSessions>,
    /// Held as long as the database is open.
    pub(crate) instance_lock: InstanceLock,
}

impl Connections {
    /// A statement of SQL text for both engines, with values for `$1`, `$2`, ….
    pub(crate) fn statement(&self, sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
        Statement::from_sql_and_values(self.backend, sql, values)
    }

    /// Runs a query within the concurrency limit and the timeout. The futures of sea-orm are large, so the query is
    /// boxed once instead of moved through each caller.
    pub(crate) fn read<T>(
        &self,
        query: impl Future<Output = Result<T, DbErr>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let query = Box::pin(query);
        async {
            let read = self.in_time(async {
                let permit = self.read_limit.acquire().await?;
                Ok::<_, StoreError>(permit.record(query.await))
            });
            self.outcome(read.await??)
        }
    }

    /// The version of the fleet, cached for a second.
    pub(crate) async fn fleet_version(&self) -> Result<FleetVersion, StoreError> {
        let query = async || {
            let row = self.read(fleet_version::Entity::find().one(&self.reads)).await?;
            row.map(|row| FleetVersion(row.number))
                .ok_or_else(|| StoreError::Corrupt { what: "fleet version", id: String::new() })
        };
        self.fleet_cache.version(query).await
    }

    /// Runs `work` in a transaction and waits for its outcome. It runs to completion even if the caller goes away, and
    /// may run again from the start after a serialization failure.
    ///
    /// # Errors
    /// `InDoubt` after a timeout: the transaction may still be committed.
    pub(crate) async fn write<T, W>(self: &Arc<Self>, work: W) -> Result<T, WriteError>
    where
        T: Send + 'static,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, DbErr>> + Send + Sync + 'static,
    {
        let written = self.in_time(async {
            let permit = self.write_limit.acquire().await.map_err(WriteError::NotStored)?;
            self.spawn(work, End::Commit, Some(permit)).await?.map_err(write_error)
        });
        written.await?
    }

    /// As [`Connections::write`], without a timeout, and with errors of the work's own.
    pub(crate) async fn write_without_timeout<T, E, W>(self: &Arc<Self>, work: W) -> Result<Result<T, E>, StoreError>
    where
        T: Send + 'static,
        E: TransactionError + From<DbErr>,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, E>> + Send + Sync + 'static,
    {
        Ok(self.spawn(work, End::Commit, None).await?.map_err(|failed| failed.error))
    }

    /// As [`Connections::write_without_timeout`], then rolls back.
    pub(crate) async fn dry_run<T, E, W>(self: &Arc<Self>, work: W) -> Result<Result<T, E>, StoreError>
    where
        T: Send + 'static,
        E: TransactionError + From<DbErr>,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, E>> + Send + Sync + 'static,
    {
        Ok(self.spawn(work, End::Rollback, None).await?.map_err(|failed| failed.error))
    }

    /// Maps the error of a query, and reports a lost session to the pool.
    pub(crate) fn outcome<T>(&self, outcome: Result<T, DbErr>) -> Result<T, StoreError> {
        outcome.inspect_err(|error| self.lost_sessions.report(error)).map_err(store_error)
    }

    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        timeout(self.timeout, work).await.map_err(|_| unavailable("the database didn't answer in time"))
    }

    async fn spawn<T, E, W>(
        self: &Arc<Self>,
        work: W,
        end: End,
        permit: Option<Permit>,
    ) -> Result<Result<T, FailedTransaction<E>>, StoreError>
    where
        T: Send + 'static,
        E: TransactionError + From<DbErr>,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, E>> + Send + Sync + 'static,
    {
        let db = self.clone();
        let task = self.runtime.spawn(async move {
            let outcome = retry_transaction(|| db.transact(&work, end)).await;
            match permit {
                Some(permit) => permit.record(outcome),
                None => outcome,
            }
        });
        task.await.map_err(StoreError::other)
    }

    async fn transact<T, E, W>(&self, work: &W, end: End) -> Result<T, FailedTransaction<E>>
    where
        E: TransactionError + From<DbErr>,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, E>>,
    {
        let transacted = self.try_transact(work, end).await;
        transacted.inspect_err(|failed| {
            if let Some(error) = failed.database() {
                self.lost_sessions.report(error);
            }
        })
    }

    async fn try_transact<T, E, W>(&self, work: &W, end: End) -> Result<T, FailedTransaction<E>>
    where
        E: TransactionError + From<DbErr>,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, E>>,
    {
        let transaction = self.begin().await.map_err(FailedTransaction::before_commit)?;
        let done = work(&transaction).await;
        if let (Ok(_), End::Commit) = (&done, end) {
            transaction.commit().await.map_err(FailedTransaction::in_commit)?;
        } else {
            // If this fails, the connection is lost, and the transaction with it.
            let _ = transaction.rollback().await;
        }
        done.map_err(FailedTransaction::before_commit)
    }

    /// Begins a transaction that writes. On `SQLite` it takes the write lock at once: a transaction that begins with a
    /// read can't wait for the lock later.
    pub(crate) async fn begin(&self) -> Result<DatabaseTransaction, DbErr> {
        let mode = (self.backend == DbBackend::Sqlite).then_some(SqliteTransactionMode::Immediate);
        let options = TransactionOptions { sqlite_transaction_mode: mode, ..TransactionOptions::default() };
        self.writes.begin_with_options(options).await
    }
}

/// Runs `work`, and again as long as it fails with a retryable error, up to [`MAX_TRIES`] times in all.
pub(crate) async fn retry_transaction<T, E, F>(work: impl Fn() -> F) -> Result<T, E>
where
    E: TransactionError,
    F: Future<Output = Result<T, E>>,
{
    for _ in 1..MAX_TRIES {
        match work().await {
            Err(error) if error.database().is_some_and(is_retryable) => {}
            outcome => return outcome,
        }
    }
    work().await
}
