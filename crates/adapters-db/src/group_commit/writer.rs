//! Writes batches, whatever the engine.

use super::Record;
use super::batch::Batch;
use super::postgres::PostgresWriter;
use super::sqlite::SqliteWriter;
use crate::core::{Core, TRIES};
use crate::error::{may_pass, store_error, was_given_up};
use domain::error::StoreError;
use metering::{CounterHandle, HistogramHandle, catalog};
use sea_orm::{DbBackend, DbErr, RuntimeErr, sqlx};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// A commit gets this many times the patience of a request: those whose patience has ended are told that
/// it failed, but a slow disk still gets their records.
const PATIENCE_FACTOR: u32 = 3;

/// The one that writes.
pub(super) struct Writer {
    engine: Engine,
    patience: Duration,
    commits: [CounterHandle; 2],
    rows: HistogramHandle,
}

enum Engine {
    Postgres(PostgresWriter),
    Sqlite(SqliteWriter),
}

/// Why a batch wasn't written, or why that isn't known.
#[derive(Clone)]
pub(super) struct Failure(Arc<sqlx::Error>);

impl Writer {
    pub(super) fn new(core: &Core) -> Self {
        let engine = match core.backend {
            DbBackend::Postgres => {
                let options = core.writes.get_postgres_connection_pool().connect_options();
                Engine::Postgres(PostgresWriter::new(options, core.patience))
            }
            _ => Engine::Sqlite(SqliteWriter::new(core.writes.get_sqlite_connection_pool().clone())),
        };
        let commits = ["written", "failed"].map(|outcome| catalog::COMMITS.with([outcome]));
        Self { engine, patience: core.patience * PATIENCE_FACTOR, commits, rows: catalog::COMMIT_ROWS.with([]) }
    }

    /// Writes all of `records` or none. It never waits for ever for a database that has silently gone.
    pub(super) async fn write<'a>(&mut self, records: impl IntoIterator<Item = &'a Record>) -> Result<(), Failure> {
        let batch = Batch::of(records);
        let written = timeout(self.patience, self.engine.write(&batch)).await;
        let written = written.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        self.commits[usize::from(written.is_err())].increment(1);
        if written.is_ok() {
            // No batch has more rows than can be counted exactly.
            self.rows.record(f64::from(u32::try_from(batch.len()).unwrap_or(u32::MAX)));
        }
        written.map_err(|error| Failure(Arc::new(error)))
    }

    pub(super) async fn close(self) {
        if let Engine::Postgres(writer) = self.engine {
            writer.close().await;
        }
    }
}

impl Engine {
    /// Writes, again if the database gave the batch up for another transaction's sake.
    async fn write(&mut self, batch: &Batch<'_>) -> Result<(), sqlx::Error> {
        let mut tries = 1;
        loop {
            let written = match self {
                Self::Postgres(writer) => writer.write(batch).await,
                Self::Sqlite(writer) => writer.write(batch).await,
            };
            if tries == TRIES || !written.as_ref().is_err_and(was_given_up) {
                return written;
            }
            tries += 1;
        }
    }
}

impl Failure {
    /// Whether the database, or sqlx before it, refused what was to be written, so that nothing of it
    /// was. Any other failure may have come after the commit: nothing must be written again.
    pub(super) fn is_of_the_rows(&self) -> bool {
        matches!(&*self.0, sqlx::Error::Database(_) | sqlx::Error::Encode(_)) && !may_pass(&self.0)
    }

    /// In the words of the domain.
    pub(super) fn told(self) -> StoreError {
        store_error(DbErr::Exec(RuntimeErr::SqlxError(self.0)))
    }
}
