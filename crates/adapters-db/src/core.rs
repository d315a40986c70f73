//! What all repositories share: the connections, and how to read and write through them.

use crate::answers::{Answers, FleetVersion};
use crate::diagnosis::Diagnosis;
use crate::error::{Fault, is_serialization_failure, unavailable};
use crate::occupancy::Presence;
use crate::turns::{Turn, Turns};
use async_trait::async_trait;
use domain::error::StoreError;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait, Value,
};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How often a transaction is tried that the engine gave up for another one's sake.
pub(crate) const TRIES: u32 = 10;

/// What is done in one transaction. It may be done again from the start.
#[async_trait]
pub(crate) trait Work: Send + Sync + 'static {
    type Done: Send + 'static;
    type Fault: Fault;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<Self::Done, Self::Fault>;
}

/// How a transaction ends whose work is done.
#[derive(Clone, Copy)]
enum End {
    Commit,
    Rollback,
}

/// The connections to one database.
pub(crate) struct Core {
    pub(crate) reads: DatabaseConnection,
    /// On `SQLite` a pool of one: its writers would only get in each other's way.
    pub(crate) writes: DatabaseConnection,
    /// Turns at `reads` and at `writes`: the same where these are one pool.
    pub(crate) turns_to_read: Arc<Turns>,
    pub(crate) turns_to_write: Arc<Turns>,
    pub(crate) backend: DbBackend,
    /// What was just read and is asked for again and again.
    pub(crate) answers: Answers,
    /// Where writes run to their end, whatever becomes of the task or the runtime that asked for them.
    pub(crate) runtime: Handle,
    /// Longest wait for an answer of the database.
    pub(crate) patience: Duration,
    pub(crate) diagnosis: Diagnosis,
    /// Held as long as the database is open.
    pub(crate) presence: Presence,
}

impl Core {
    /// A statement of SQL text that both engines understand, with values for `$1`, `$2`, ….
    pub(crate) fn statement(&self, sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
        Statement::from_sql_and_values(self.backend, sql, values)
    }

    /// Waits for a read, but not for ever. The futures of sea-orm are large: this one is moved to the heap
    /// once, rather than through each that waits for it.
    pub(crate) fn read<T>(
        &self,
        query: impl Future<Output = Result<T, DbErr>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let query = Box::pin(query);
        async {
            let read = self.in_time(async {
                let turn = self.turns_to_read.take().await?;
                Ok(turn.ends(query.await))
            });
            self.explained(read.await??).await
        }
    }

    /// The version of the fleet, as it was a second ago at most.
    pub(crate) async fn fleet_version(&self) -> Result<FleetVersion, StoreError> {
        let ask = async || {
            let row =
                self.read(self.reads.query_one_raw(self.statement("SELECT number FROM fleet_version", []))).await?;
            let number = row.map(|row| row.try_get_by_index(0)).transpose().map_err(StoreError::other)?;
            Ok(number.map(FleetVersion))
        };
        let found = self.answers.version(ask).await?;
        found.ok_or_else(|| StoreError::Corrupt { what: "fleet version", id: String::new() })
    }

    /// Begins to write and waits for the outcome. The work goes on even if the caller goes away.
    pub(crate) async fn write<W: Work<Fault = DbErr>>(self: &Arc<Self>, work: W) -> Result<W::Done, StoreError> {
        let written = self.in_time(async {
            let turn = self.turns_to_write.take().await?;
            self.begin(work, End::Commit, Some(turn)).await
        });
        self.explained(written.await??).await
    }

    /// As [`Core::write`], without a limit of time and with failures of the work's own.
    pub(crate) async fn write_at_length<W: Work>(
        self: &Arc<Self>,
        work: W,
    ) -> Result<Result<W::Done, W::Fault>, StoreError> {
        self.begin(work, End::Commit, None).await
    }

    /// As [`Core::write_at_length`], but nothing of it stays.
    pub(crate) async fn try_out<W: Work>(self: &Arc<Self>, work: W) -> Result<Result<W::Done, W::Fault>, StoreError> {
        self.begin(work, End::Rollback, None).await
    }

    /// What an outcome is to the domain, with its cause.
    pub(crate) async fn explained<T>(&self, outcome: Result<T, DbErr>) -> Result<T, StoreError> {
        match outcome {
            Ok(done) => Ok(done),
            Err(error) => Err(self.diagnosis.explain(error).await),
        }
    }

    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        timeout(self.patience, work).await.map_err(|_| unavailable("the database didn't answer in time"))
    }

    /// The turn is kept until the work is done.
    async fn begin<W: Work>(
        self: &Arc<Self>,
        work: W,
        end: End,
        turn: Option<Turn>,
    ) -> Result<Result<W::Done, W::Fault>, StoreError> {
        let core = self.clone();
        let task = self.runtime.spawn(async move {
            let outcome = core.transact(&work, end).await;
            match turn {
                Some(turn) => turn.ends(outcome),
                None => outcome,
            }
        });
        task.await.map_err(StoreError::other)
    }

    /// Runs `work` in one transaction, again if the engine gave it up for another one's sake.
    async fn transact<W: Work>(&self, work: &W, end: End) -> Result<W::Done, W::Fault> {
        let mut tries = 1;
        loop {
            let transaction = self.begin_transaction().await?;
            let error = match work.run(&transaction).await {
                Ok(done) => {
                    let ended = match end {
                        End::Commit => transaction.commit().await,
                        End::Rollback => transaction.rollback().await,
                    };
                    match ended {
                        Ok(()) => return Ok(done),
                        Err(error) => W::Fault::from(error),
                    }
                }
                Err(error) => {
                    // If this fails the connection is lost, and with it the transaction.
                    let _ = transaction.rollback().await;
                    error
                }
            };
            if tries == TRIES || !error.database().is_some_and(is_serialization_failure) {
                return Err(error);
            }
            tries += 1;
        }
    }

    /// Begins a transaction that may write. On `SQLite` it takes the lock at once: a later one could
    /// not wait for it.
    pub(crate) async fn begin_transaction(&self) -> Result<DatabaseTransaction, DbErr> {
        let mode = (self.backend == DbBackend::Sqlite).then_some(SqliteTransactionMode::Immediate);
        let options = TransactionOptions { sqlite_transaction_mode: mode, ..TransactionOptions::default() };
        self.writes.begin_with_options(options).await
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::engines;
    use sea_orm::{ConnectionTrait, DbBackend, Statement};

    /// On a full disk `SQLite` ends a transaction by itself, and can't commit another.
    #[tokio::test]
    async fn what_is_written_after_transactions_have_failed_in_any_way_is_there() {
        let engine = engines().await.remove(0);
        let core = engine.core();
        let write = async |sql: &str| {
            let transaction = core.begin_transaction().await?;
            transaction.execute_unprepared(sql).await?;
            transaction.commit().await
        };
        write("ROLLBACK").await.unwrap_err();
        let orphan = "INSERT INTO user_account (organization_id, name) VALUES (77, 'nobody')";
        write(&format!("PRAGMA defer_foreign_keys = ON; {orphan}")).await.unwrap_err();
        write("INSERT INTO organization (name, publisher) VALUES ('after', false)").await.unwrap();
        let ask = "SELECT count(*) FROM organization WHERE name = 'after'";
        let seen = core.reads.query_one_raw(Statement::from_string(DbBackend::Sqlite, ask)).await.unwrap().unwrap();
        assert_eq!(seen.try_get_by_index::<i64>(0).unwrap(), 1);
    }
}
