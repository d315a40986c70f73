//! Writes batches, whatever the engine.

use super::Record;
use super::batch::Batch;
use super::postgres::PostgresWriter;
use super::sqlite::SqliteWriter;
use crate::core::{Core, TRIES};
use crate::error::{may_pass, store_error, was_given_up};
use crate::log_entry::{OriginDigest, Origins};
use domain::error::StoreError;
use metering::{CounterHandle, HistogramHandle, catalog};
use sea_orm::sqlx::{self, ColumnIndex, Decode, Row, Type};
use sea_orm::{DbBackend, DbErr, RuntimeErr};
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
        self.number_origins(records).await?;
        let batch = Batch::of(records.iter().map(|record| &**record));
        self.engine.write(&batch).await?;
        // No batch has more rows than can be counted exactly.
        self.rows.record(f64::from(u32::try_from(batch.len()).unwrap_or(u32::MAX)));
        Ok(())
    }

    /// Gives each log entry the number of its origin. Origins that aren't known are stored, if they aren't there, in a
    /// transaction of their own: an origin without entries does no harm.
    async fn number_origins(&mut self, records: &mut [&mut Record]) -> Result<(), sqlx::Error> {
        // In the order of their digests, so that two writers never wait for each other.
        let mut unknown = BTreeMap::new();
        for record in records.iter_mut() {
            if let Record::Log(row) = &mut **record
                && let Some(digest) = row.number(&self.origins).await
            {
                unknown.entry(digest).or_insert_with(|| row.new_origin());
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let numbers: BTreeMap<_, _> = self.engine.write(&Batch::of_one(unknown.values())).await?.into_iter().collect();
        for (digest, id) in &numbers {
            if let Some(origin) = unknown.get(digest) {
                self.origins.learn(origin, *id).await;
            }
        }
        for record in records.iter_mut() {
            if let Record::Log(row) = &mut **record {
                row.number_by(&numbers);
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
    /// Writes, again if the database gave the batch up for another transaction's sake. The numbers of the origins that
    /// were written.
    async fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<(OriginDigest, i64)>, sqlx::Error> {
        let mut tries = 1;
        loop {
            let written = match self {
                Self::Postgres(writer) => numbers(writer.write(batch).await),
                Self::Sqlite(writer) => numbers(writer.write(batch).await),
            };
            if tries == TRIES || !written.as_ref().is_err_and(was_given_up) {
                return written;
            }
            tries += 1;
        }
    }
}

/// Digest and number of each row that a database has answered.
fn numbers<R>(answered: Result<Vec<R>, sqlx::Error>) -> Result<Vec<(OriginDigest, i64)>, sqlx::Error>
where
    R: Row,
    usize: ColumnIndex<R>,
    for<'r> Vec<u8>: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> i64: Decode<'r, R::Database> + Type<R::Database>,
{
    let number = |row: R| {
        let digest: Vec<u8> = row.try_get(0)?;
        let digest = digest.try_into().map_err(|_| sqlx::Error::Decode("a digest of another length".into()))?;
        Ok((digest, row.try_get(1)?))
    };
    answered?.into_iter().map(number).collect()
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
