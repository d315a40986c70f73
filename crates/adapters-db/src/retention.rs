//! Removes old records: [`domain::retention::RetentionRepository`].
//!
//! A batch goes through the organizations one after the other, each by the index of its own lists: an index of all
//! organizations by time would cost every write (ADR 48).

mod table;

use crate::connections::Connections;
use crate::entity::{crash_report, device_history, log_entry};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::retention::{RemovalCursor, RemovalOutcome, RetentionRepository};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use std::sync::Arc;
use table::{RetainedTable, Span, oldest, remove};

/// The advisory lock of a `PostgreSQL` database under which records are removed: "platen" as a number, the one after
/// that of migrations.
const LOCK: i64 = 0x0070_6c61_7465_6e01;

/// Organizations that one batch looks at, at most.
const MAX_ORGANIZATIONS: u32 = 64;

/// The removal of old records from a database.
pub struct SqlRetentionRepository {
    db: Arc<Connections>,
}

/// What one batch removes.
#[derive(Clone, Copy)]
struct Batch {
    before: Timestamp,
    from: Option<RemovalCursor>,
    limit: u64,
    now: Timestamp,
}

impl SqlRetentionRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    async fn remove<T: RetainedTable>(&self, batch: Batch) -> Result<RemovalOutcome, StoreError> {
        Ok(self.db.write(move |transaction| remove_batch::<T>(transaction, batch).boxed()).await?)
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
        self.remove::<log_entry::Entity>(Batch { before, from, limit, now: before }).await
    }

    async fn prune_device_history(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
    ) -> Result<RemovalOutcome, StoreError> {
        self.remove::<device_history::Entity>(Batch { before, from, limit, now: before }).await
    }

    async fn remove_crash_reports(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
        now: Timestamp,
    ) -> Result<RemovalOutcome, StoreError> {
        self.remove::<crash_report::Entity>(Batch { before, from, limit, now }).await
    }
}

async fn remove_batch<T: RetainedTable>(
    transaction: &DatabaseTransaction,
    Batch { before, mut from, limit, now }: Batch,
) -> Result<RemovalOutcome, DbErr> {
    if !acquire_lock(transaction).await? {
        return Ok(RemovalOutcome::Elsewhere);
    }
    let (mut records, mut weight) = (0, 0);
    for _ in 0..MAX_ORGANIZATIONS {
        let Some(oldest) = oldest::<T>(transaction, from).await? else {
            return Ok(RemovalOutcome::Done { removed: records, rest: None });
        };
        let span = Span {
            from: oldest,
            before,
            records: limit.saturating_sub(records),
            weight: T::MAX_WEIGHT.saturating_sub(weight),
        };
        let removed = remove::<T>(transaction, &span, now).await?;
        records += removed.records;
        weight += removed.weight;
        from = removed.rest.or_else(|| next_organization(oldest));
        if from.is_none() || removed.rest.is_some() || weight >= T::MAX_WEIGHT {
            break;
        }
    }
    Ok(RemovalOutcome::Done { removed: records, rest: from })
}

/// Where the next organization begins.
fn next_organization(cursor: RemovalCursor) -> Option<RemovalCursor> {
    let next = cursor.organization.0.checked_add(1)?;
    Some(RemovalCursor { organization: OrganizationId(next), received: Timestamp::from_micros(i64::MIN) })
}

/// Takes the lock that lets one process at a time remove records, until the transaction ends. `SQLite` needs none,
/// since it has one writer.
async fn acquire_lock(transaction: &DatabaseTransaction) -> Result<bool, DbErr> {
    if transaction.get_database_backend() != DbBackend::Postgres {
        return Ok(true);
    }
    // The builder knows no advisory locks.
    let lock = "SELECT pg_try_advisory_xact_lock($1)";
    let lock = Statement::from_sql_and_values(DbBackend::Postgres, lock, [LOCK.into()]);
    transaction.query_one_raw(lock).await?.map_or(Ok(false), |row| row.try_get_by_index(0))
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
            let other = engine.db().writes.begin_with_config(None, Some(AccessMode::ReadOnly)).await.unwrap();
            assert!(acquire_lock(&other).await.unwrap());
            let retention = engine.database.retention();
            assert_eq!(retention.remove_logs(old, None, 10).await.unwrap(), RemovalOutcome::Elsewhere);
            assert_eq!(retention.remove_crash_reports(old, None, 10, old).await.unwrap(), RemovalOutcome::Elsewhere);
            assert_eq!(engine.number("SELECT count(*) FROM log_entry").await, 3000);
            other.commit().await.unwrap();
            let done = retention.remove_logs(old, None, 10).await.unwrap();
            assert!(matches!(done, RemovalOutcome::Done { removed: 10, rest: Some(_) }), "{done:?}");
        }
    }

    /// What was noted of a report's blobs and what is left of it are one step.
    #[tokio::test]
    async fn a_batch_that_fails_leaves_all_as_it_was() {
        for engine in engines().await {
            engine.fill_all().await;
            let trouble = match engine.db().backend {
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
            let on = if engine.db().backend == DbBackend::Postgres { " ON crash_report" } else { "" };
            engine.run(&format!("DROP TRIGGER refuse{on}")).await;
            let done = retention.remove_crash_reports(now, None, 10, now).await.unwrap();
            assert_eq!(done, RemovalOutcome::Done { removed: 1, rest: None });
            assert_eq!(counts().await, [0, 0, 1], "{}", engine.name);
        }
    }
}
