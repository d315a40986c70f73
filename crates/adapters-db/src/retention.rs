//! Removes old records: [`domain::retention::RetentionRepository`].
//!
//! Organizations are gone through one after the other, each by the index in which its own lists are read: an
//! index of all organizations by time would cost every write (decision 48).

mod rows;

use crate::core::{Core, Work};
use async_trait::async_trait;
use domain::error::StoreError;
use domain::retention::{Kind, Place, Removal, RetentionRepository};
use domain::timestamp::Timestamp;
use rows::{Rows, Span};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use std::sync::Arc;

/// Whoever removes old records from a `PostgreSQL` database holds this advisory lock: "platen", as a number,
/// and one behind that of migrations.
const LOCK: i64 = 0x0070_6c61_7465_6e01;

/// Organizations that one batch looks at, and parts of crash reports that it removes: at most, but for a single
/// report with more.
const OWNERS: u32 = 64;
const PARTS: u64 = 1000;

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
        kind: Kind,
        before: Timestamp,
        from: Option<Place>,
        limit: u64,
        now: Timestamp,
    ) -> Result<Removal, StoreError> {
        let rows = Rows { kind, backend: self.core.backend, before, now };
        self.core.write(Batch { rows, from, limit }).await
    }
}

#[async_trait]
impl RetentionRepository for SqlRetentionRepository {
    async fn remove_logs(&self, before: Timestamp, from: Option<Place>, limit: u64) -> Result<Removal, StoreError> {
        self.remove(Kind::Logs, before, from, limit, before).await
    }

    async fn remove_crash_reports(
        &self,
        before: Timestamp,
        from: Option<Place>,
        limit: u64,
        now: Timestamp,
    ) -> Result<Removal, StoreError> {
        self.remove(Kind::CrashReports, before, from, limit, now).await
    }
}

struct Batch {
    rows: Rows,
    from: Option<Place>,
    limit: u64,
}

#[async_trait]
impl Work for Batch {
    type Done = Removal;
    type Fault = DbErr;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<Removal, DbErr> {
        if !has_turn(transaction).await? {
            return Ok(Removal::Elsewhere);
        }
        let (mut removed, mut parts) = (0, 0);
        let mut from = self.from;
        for _ in 0..OWNERS {
            let Some(oldest) = self.rows.oldest(transaction, from).await? else {
                return Ok(Removal::Done { removed, rest: None });
            };
            let room = Span { from: oldest, records: self.limit - removed, parts: PARTS.saturating_sub(parts) };
            let taken = self.rows.remove(transaction, &room).await?;
            removed += taken.records;
            parts += taken.parts;
            from = taken.rest.or_else(|| behind(oldest));
            if from.is_none() {
                return Ok(Removal::Done { removed, rest: None });
            }
            if removed >= self.limit || parts >= PARTS {
                break;
            }
        }
        Ok(Removal::Done { removed, rest: from })
    }
}

/// Where the next organization begins.
fn behind(place: Place) -> Option<Place> {
    let next = place.organization.0.checked_add(1)?;
    Some(Place { organization: domain::caller::OrganizationId(next), received: Timestamp::from_micros(i64::MIN) })
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
