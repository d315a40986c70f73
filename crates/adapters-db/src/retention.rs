//! Removes old records: [`domain::retention::RetentionRepository`].
//!
//! Organizations are gone through one after the other, each by the index in which its own lists are read: an
//! index of all organizations by time would cost every write (ADR 48).

mod rows;

use crate::core::{Core, Work};
use async_trait::async_trait;
use domain::error::StoreError;
use domain::retention::{RemovalCursor, RemovalOutcome, RetainedRecords, RetentionRepository};
use domain::timestamp::Timestamp;
use rows::{Rows, Span};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use std::sync::Arc;

/// Whoever removes old records from a `PostgreSQL` database holds this advisory lock: "platen", as a number,
/// and one behind that of migrations.
const LOCK: i64 = 0x0070_6c61_7465_6e01;

/// Organizations that one batch looks at, at most.
const OWNERS: u32 = 64;

/// The removal of old records from a database.
pub struct SqlRetentionRepository {
    core: Arc<Core>,
}

impl SqlRetentionRepository {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    async fn remove(
        &self,
        kind: RetainedRecords,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
        now: Timestamp,
    ) -> Result<RemovalOutcome, StoreError> {
        let rows = Rows { kind, backend: self.core.backend, before, now };
        self.core.write(Batch { rows, from, limit }).await
    }
}

#[async_trait]
impl RetentionRepository for SqlRetentionRepository {
    async fn remove_logs(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
    ) -> Result<RemovalOutcome, StoreError> {
        self.remove(RetainedRecords::Logs, before, from, limit, before).await
    }

    async fn remove_crash_reports(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
        now: Timestamp,
    ) -> Result<RemovalOutcome, StoreError> {
        self.remove(RetainedRecords::CrashReports, before, from, limit, now).await
    }
}

struct Batch {
    rows: Rows,
    from: Option<RemovalCursor>,
    limit: u64,
}

#[async_trait]
impl Work for Batch {
    type Done = RemovalOutcome;
    type Fault = DbErr;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<RemovalOutcome, DbErr> {
        if !has_turn(transaction).await? {
            return Ok(RemovalOutcome::Elsewhere);
        }
        let (mut removed, mut weight, heaviest) = (0, 0, self.rows.heaviest());
        let mut from = self.from;
        for _ in 0..OWNERS {
            let Some(oldest) = self.rows.oldest(transaction, from).await? else {
                return Ok(RemovalOutcome::Done { removed, rest: None });
            };
            let (records, left) = (self.limit.saturating_sub(removed), heaviest.saturating_sub(weight));
            let room = Span { from: oldest, records, weight: left };
            let taken = self.rows.remove(transaction, &room).await?;
            removed += taken.records;
            weight += taken.weight;
            from = taken.rest.or_else(|| behind(oldest));
            if from.is_none() || taken.rest.is_some() || weight >= heaviest {
                break;
            }
        }
        Ok(RemovalOutcome::Done { removed, rest: from })
    }
}

/// Where the next organization begins.
fn behind(place: RemovalCursor) -> Option<RemovalCursor> {
    let next = place.organization.0.checked_add(1)?;
    Some(RemovalCursor {
        organization: domain::caller::OrganizationId(next),
        received: Timestamp::from_micros(i64::MIN),
    })
}

/// Whether this process may remove now: `SQLite` has one writer anyway. The turn ends with the transaction.
async fn has_turn(transaction: &DatabaseTransaction) -> Result<bool, DbErr> {
    if transaction.get_database_backend() != DbBackend::Postgres {
        return Ok(true);
    }
    let ask = "SELECT pg_try_advisory_xact_lock($1)";
    let ask = Statement::from_sql_and_values(DbBackend::Postgres, ask, [LOCK.into()]);
    transaction.query_one_raw(ask).await?.map_or(Ok(false), |row| row.try_get_by_index(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use sea_orm::{AccessMode, TransactionTrait};

    /// The turn lasts as long as the transaction of a batch.
    #[tokio::test]
    async fn who_finds_another_process_removing_does_nothing() {
        for engine in engines().await.into_iter().filter(|engine| engine.name == "PostgreSQL") {
            engine.fill().await;
            let old = Timestamp::from_micros(1_001_000);
            let other = engine.core().writes.begin_with_config(None, Some(AccessMode::ReadOnly)).await.unwrap();
            assert!(has_turn(&other).await.unwrap());
            let retention = engine.database.retention();
            assert_eq!(retention.remove_logs(old, None, 10).await.unwrap(), RemovalOutcome::Elsewhere);
            assert_eq!(retention.remove_crash_reports(old, None, 10, old).await.unwrap(), RemovalOutcome::Elsewhere);
            assert_eq!(engine.number("SELECT count(*) FROM log_entry").await, 3000);
            other.commit().await.unwrap();
            let done = retention.remove_logs(old, None, 10).await.unwrap();
            assert!(matches!(done, RemovalOutcome::Done { removed: 10, rest: Some(_) }), "{done:?}");
        }
    }

    /// Else the names of people stayed for ever.
    #[tokio::test]
    async fn what_entries_have_in_common_goes_with_the_last_of_them_unless_it_was_seen_since() {
        for engine in engines().await {
            engine.fill().await;
            let origins = async || engine.number("SELECT count(*) FROM log_origin").await;
            let remove = async |before| {
                let retention = engine.database.retention();
                let mut from = None;
                while let RemovalOutcome::Done { rest: Some(rest), .. } =
                    retention.remove_logs(Timestamp::from_micros(before), from, 1000).await.unwrap()
                {
                    from = Some(rest);
                }
            };
            engine.run("UPDATE log_origin SET seen_at = 1005000 WHERE id = 7").await;
            remove(1_002_990).await;
            assert_eq!(engine.number("SELECT count(*) FROM log_entry").await, 11, "{}", engine.name);
            assert_eq!(origins().await, 12, "{}", engine.name);
            remove(1_002_992).await;
            assert_eq!(origins().await, 10, "{}", engine.name);
            remove(1_004_000).await;
            assert_eq!(origins().await, 1, "{}", engine.name);
        }
    }

    /// What was noted of a report's blobs and what is left of it are one step.
    #[tokio::test]
    async fn a_batch_that_fails_leaves_all_as_it_was() {
        for engine in engines().await {
            engine.fill_all().await;
            let trouble = match engine.core().backend {
                DbBackend::Postgres => {
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
                    CREATE TRIGGER refuse BEFORE DELETE ON crash_report FOR EACH ROW EXECUTE FUNCTION refuse()"
                }
                _ => {
                    "CREATE TRIGGER refuse BEFORE DELETE ON crash_report
                        BEGIN SELECT RAISE(ABORT, 'refused'); END"
                }
            };
            engine.run(trouble).await;
            let (retention, now) = (engine.database.retention(), Timestamp::from_micros(99));
            retention.remove_crash_reports(now, None, 10, now).await.unwrap_err();
            let counts = async || {
                let mut counts = Vec::new();
                for table in ["crash_report", "crash_part", "discarded_blob"] {
                    counts.push(engine.number(&format!("SELECT count(*) FROM {table}")).await);
                }
                counts
            };
            assert_eq!(counts().await, [1, 1, 0], "{}", engine.name);
            let on = if engine.core().backend == DbBackend::Postgres { " ON crash_report" } else { "" };
            engine.run(&format!("DROP TRIGGER refuse{on}")).await;
            let done = retention.remove_crash_reports(now, None, 10, now).await.unwrap();
            assert_eq!(done, RemovalOutcome::Done { removed: 1, rest: None });
            assert_eq!(counts().await, [0, 0, 1], "{}", engine.name);
        }
    }
}
