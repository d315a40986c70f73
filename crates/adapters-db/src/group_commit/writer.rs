//! Writes batches, whatever the engine.

use super::Record;
use super::batch::{Answered, Batch};
use super::postgres::PostgresWriter;
use super::sqlite::SqliteWriter;
use crate::core::{Core, TRIES};
use crate::error::{may_pass, store_error, was_given_up};
use crate::log_entry::{NewRow, OriginDigest, Origins};
use domain::error::StoreError;
use metering::{CounterHandle, HistogramHandle, catalog};
use sea_orm::{DbBackend, DbErr, RuntimeErr, sqlx};
use std::collections::BTreeMap;
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
    origins: Arc<Origins>,
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
    pub(super) fn new(core: &Core, origins: Arc<Origins>) -> Self {
        let engine = match core.backend {
            DbBackend::Postgres => {
                let options = core.writes.get_postgres_connection_pool().connect_options();
                Engine::Postgres(PostgresWriter::new(options, core.patience))
            }
            _ => Engine::Sqlite(SqliteWriter::new(core.writes.get_sqlite_connection_pool().clone())),
        };
        let commits = ["written", "failed"].map(|outcome| catalog::COMMITS.with([outcome]));
        let rows = catalog::COMMIT_ROWS.with([]);
        Self { engine, patience: core.patience * PATIENCE_FACTOR, origins, commits, rows }
    }

    /// Writes all of `records` or none. It never waits for ever for a database that has silently gone.
    pub(super) async fn write(&mut self, records: &mut [&mut Record]) -> Result<(), Failure> {
        let written = timeout(self.patience, self.write_all(records)).await;
        let written = written.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        self.commits[usize::from(written.is_err())].increment(1);
        written.map_err(|error| Failure(Arc::new(error)))
    }

    async fn write_all(&mut self, records: &mut [&mut Record]) -> Result<(), sqlx::Error> {
        // A standby that took over may lack the last origins of the server before it.
        if self.engine.is_another_server().await? {
            self.origins.forget();
        }
        self.number_origins(records).await?;
        let batch = Batch::of(records.iter().map(|record| &**record));
        self.engine.write(&batch).await?;
        // No batch has more rows than can be counted exactly.
        self.rows.record(f64::from(u32::try_from(batch.len()).unwrap_or(u32::MAX)));
        Ok(())
    }

    /// Gives each log entry the number of its origin. Origins that aren't known are stored, if they aren't there, in a
    /// transaction of their own: one without entries does no harm.
    async fn number_origins(&mut self, records: &mut [&mut Record]) -> Result<(), sqlx::Error> {
        // In the order of their digests, so that two writers never wait for each other.
        let mut unknown: BTreeMap<OriginDigest, Vec<&mut NewRow>> = BTreeMap::new();
        for record in records.iter_mut() {
            if let Record::Log(row) = &mut **record
                && !row.recall_origin(&self.origins)
            {
                unknown.entry(row.origin()).or_default().push(row);
            }
        }
        let new: Vec<_> = unknown.values().filter_map(|rows| rows.first()).map(|row| row.new_origin()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let numbers = self.engine.write(&Batch::of_one(&new)).await?;
        for (digest, id) in numbers {
            let rows = unknown.remove(&digest[..]).unwrap_or_default();
            if let Some(first) = rows.first() {
                first.remember_origin(id, &self.origins);
            }
            for row in rows {
                row.take_origin(id);
            }
        }
        Ok(())
    }

    pub(super) async fn close(self) {
        if let Engine::Postgres(writer) = self.engine {
            writer.close().await;
        }
    }
}

impl Engine {
    /// Whether what is written next may go to another server than what was written before.
    async fn is_another_server(&mut self) -> Result<bool, sqlx::Error> {
        match self {
            Self::Postgres(writer) => writer.connect().await,
            Self::Sqlite(_) => Ok(false),
        }
    }

    /// Writes, again if the database gave the batch up for another transaction's sake. What was
    /// answered.
    async fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Answered>, sqlx::Error> {
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
