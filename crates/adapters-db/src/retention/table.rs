//! Finds and removes the old records of one organization, in one of the tables.

use crate::crash_group;
use crate::entity::{crash_part, crash_report, device_history, log_entry};
use crate::ledger::discard;
use domain::caller::OrganizationId;
use domain::retention::RemovalCursor;
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select, TryGetable, Value,
};
use std::future::Future;
use uuid::Uuid;

/// Blob keys of one statement.
const KEYS: usize = 500;

/// A table whose old records are removed.
pub(super) trait RetainedTable: EntityTrait {
    const ORGANIZATION: Self::Column;
    const RECEIVED: Self::Column;
    const ID: Self::Column;
    /// The type of the ids.
    type Id: TryGetable + Into<Value> + Copy + Send + Sync;
    /// Limit for the weight of a batch, unless a single record weighs more. The unit is that of [`Self::weight`].
    const MAX_WEIGHT: u64;

    /// The weight of a record: its share of the work of a batch.
    fn weight() -> Expr;

    /// Removes the records and notes their blobs as discarded; returns how many records.
    fn remove(
        transaction: &DatabaseTransaction,
        records: Condition,
        now: Timestamp,
    ) -> impl Future<Output = Result<u64, DbErr>> + Send;
}

/// A log entry weighs the bytes of its description.
impl RetainedTable for log_entry::Entity {
    const ORGANIZATION: log_entry::Column = log_entry::Column::OrganizationId;
    const RECEIVED: log_entry::Column = log_entry::Column::ReceivedAt;
    const ID: log_entry::Column = log_entry::Column::Id;
    type Id = i64;
    const MAX_WEIGHT: u64 = 4 * 1024 * 1024;

    fn weight() -> Expr {
        // The builder has no name for the length in bytes.
        Expr::cust("octet_length(description)").cast_as("bigint")
    }

    async fn remove(transaction: &DatabaseTransaction, records: Condition, _: Timestamp) -> Result<u64, DbErr> {
        Ok(Self::delete_many().filter(records).exec(transaction).await?.rows_affected)
    }
}

/// A change or sample of a device weighs the bytes of its texts.
impl RetainedTable for device_history::Entity {
    const ORGANIZATION: device_history::Column = device_history::Column::OrganizationId;
    const RECEIVED: device_history::Column = device_history::Column::ReceivedAt;
    const ID: device_history::Column = device_history::Column::DeviceGuid;
    type Id = Uuid;
    const MAX_WEIGHT: u64 = 4 * 1024 * 1024;

    fn weight() -> Expr {
        let texts = ["message", "connection_message", "remaining_inks"];
        let bytes = texts.map(|text| format!("octet_length(coalesce({text}, ''))")).join(" + ");
        Expr::cust(bytes).cast_as("bigint")
    }

    async fn remove(transaction: &DatabaseTransaction, records: Condition, _: Timestamp) -> Result<u64, DbErr> {
        Ok(Self::delete_many().filter(records).exec(transaction).await?.rows_affected)
    }
}

/// A crash report weighs as much as it has parts.
impl RetainedTable for crash_report::Entity {
    const ORGANIZATION: crash_report::Column = crash_report::Column::OrganizationId;
    const RECEIVED: crash_report::Column = crash_report::Column::ReceivedAt;
    const ID: crash_report::Column = crash_report::Column::Id;
    type Id = Uuid;
    const MAX_WEIGHT: u64 = 1000;

    fn weight() -> Expr {
        let mut parts = Query::select();
        parts.expr(Expr::cust("count(*)")).from(crash_part::Entity);
        parts.and_where(crash_part::Column::ReportId.into_expr().eq(Self::ID.into_expr()));
        Expr::SubQuery(None, Box::new(parts.into()))
    }

    async fn remove(transaction: &DatabaseTransaction, records: Condition, now: Timestamp) -> Result<u64, DbErr> {
        // Rows that refer to the reports are removed first.
        crash_group::forget(transaction, crash_report::Entity::find().filter(records.clone())).await?;
        let parts = crash_part::Entity::delete_many().filter(parts_of(records.clone()));
        let parts = parts.exec_with_returning(transaction).await?;
        for parts in parts.chunks(KEYS) {
            discard(transaction, parts.iter().map(|part| part.blob_key.clone()).collect(), now).await?;
        }
        Ok(Self::delete_many().filter(records).exec(transaction).await?.rows_affected)
    }
}

fn parts_of(reports: Condition) -> Expr {
    let ids = crash_report::Entity::find().select_only().column(crash_report::Column::Id).filter(reports);
    crash_part::Column::ReportId.in_subquery(ids.into_query())
}

/// The records to remove: from a position, before a time, up to a number and a weight.
pub(super) struct Span {
    pub(super) from: RemovalCursor,
    /// Records received at this time or later stay.
    pub(super) before: Timestamp,
    pub(super) records: u64,
    pub(super) weight: u64,
}

/// The numbers that were removed of one organization; more old records may follow at `rest`.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) records: u64,
    pub(super) weight: u64,
    pub(super) rest: Option<RemovalCursor>,
}

/// Time of receipt and id of a record.
type Position<T> = (i64, <T as RetainedTable>::Id);

/// The oldest record of the first organization from `from` on.
pub(super) async fn oldest<T: RetainedTable>(
    transaction: &DatabaseTransaction,
    from: Option<RemovalCursor>,
) -> Result<Option<RemovalCursor>, DbErr> {
    let found = select_oldest::<T>(from).into_tuple::<(i64, i64)>().one(transaction).await?;
    let cursor = |(organization, received)| RemovalCursor {
        organization: OrganizationId(organization),
        received: Timestamp::from_micros(received),
    };
    Ok(found.map(cursor))
}

/// Removes old records of one organization, the oldest first.
pub(super) async fn remove<T: RetainedTable>(
    transaction: &DatabaseTransaction,
    span: &Span,
    now: Timestamp,
) -> Result<Removed, DbErr> {
    if span.from.received >= span.before {
        return Ok(Removed::default());
    }
    let old = transaction.query_all(&select_old::<T>(span).into_query()).await?;
    let (mut removed, mut last): (Removed, Option<Position<T>>) = (Removed::default(), None);
    for row in &old {
        let weight = removed.weight + row.try_get_by_index::<i64>(2)?.unsigned_abs();
        if weight > span.weight && last.is_some() {
            break;
        }
        removed.weight = weight;
        removed.records += 1;
        last = Some((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
    }
    let Some(last) = last else {
        return Ok(removed);
    };
    let is_all = removed.records == old.len() as u64 && removed.records < span.records;
    let rest = RemovalCursor { received: Timestamp::from_micros(last.0), ..span.from };
    removed.rest = (!is_all).then_some(rest);
    removed.records = T::remove(transaction, up_to::<T>(span, last), now).await?;
    Ok(removed)
}

fn select_oldest<T: RetainedTable>(from: Option<RemovalCursor>) -> Select<T> {
    let from = from.map_or((i64::MIN, i64::MIN), |from| (from.organization.0, from.received.as_micros()));
    let position = Expr::tuple([T::ORGANIZATION, T::RECEIVED].map(ColumnTrait::into_expr));
    T::find()
        .select_only()
        .columns([T::ORGANIZATION, T::RECEIVED])
        .filter(position.gte(Expr::tuple([from.0.into(), from.1.into()])))
        .order_by_asc(T::ORGANIZATION)
        .order_by_asc(T::RECEIVED)
        .limit(1)
}

fn select_old<T: RetainedTable>(span: &Span) -> Select<T> {
    T::find()
        .select_only()
        .columns([T::RECEIVED, T::ID])
        .expr_as(T::weight(), "weight")
        .filter(T::ORGANIZATION.eq(span.from.organization.0))
        .filter(T::RECEIVED.gte(span.from.received.as_micros()))
        .filter(T::RECEIVED.lt(span.before.as_micros()))
        .order_by_asc(T::RECEIVED)
        .order_by_asc(T::ID)
        .limit(span.records)
}

/// The records of a span up to the one at `last`.
fn up_to<T: RetainedTable>(span: &Span, last: Position<T>) -> Condition {
    let position = Expr::tuple([T::RECEIVED, T::ID].map(ColumnTrait::into_expr));
    Condition::all()
        .add(T::ORGANIZATION.eq(span.from.organization.0))
        .add(T::RECEIVED.gte(span.from.received.as_micros()))
        .add(position.lte(Expr::tuple([last.0.into(), Expr::val(last.1)])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const REPORTS: &str = "INSERT INTO crash_report (id, organization_id, received_at, serial_number,
            application_version)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT {guid}, 1 + n % 3, 1000000 + n, 'SN', '1' FROM numbers";

    const PARTS: &str = "INSERT INTO crash_part (report_id, position, place, blob_key, content_size, checksum)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3)
        SELECT id, n, 'Dump', 'crash-reports/' || n, 1, '' FROM crash_report, numbers";

    #[tokio::test]
    async fn old_records_are_found_by_the_indexes_of_their_lists() {
        for engine in engines().await {
            engine.fill().await;
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "md5(n::text)::uuid" };
            engine.run(&REPORTS.replace("{guid}", guid)).await;
            engine.run(PARTS).await;
            engine.run("ANALYZE").await;
            let backend = engine.db().backend;
            let from = RemovalCursor { organization: OrganizationId(2), received: Timestamp::from_micros(1_000_100) };
            let span = Span { from, before: Timestamp::from_micros(1_002_000), records: 100, weight: 100 };
            let (entry, report) = ((1_001_000, 1000_i64), (1_000_130, Uuid::nil()));
            let entries = log_entry::Entity::delete_many().filter(up_to::<log_entry::Entity>(&span, entry));
            let reports = || up_to::<crash_report::Entity>(&span, report);
            for (index, query) in [
                ("log_entry_by_time", select_oldest::<log_entry::Entity>(Some(from)).build(backend)),
                ("log_entry_by_time", select_old::<log_entry::Entity>(&span).build(backend)),
                ("log_entry_by_time", entries.build(backend)),
                (
                    "crash_report_by_time|crash_report_anywhere",
                    select_oldest::<crash_report::Entity>(Some(from)).build(backend),
                ),
                (
                    "crash_report_by_time|crash_report_anywhere",
                    select_old::<crash_report::Entity>(&span).build(backend),
                ),
                (
                    "crash_report_by_time|crash_report_anywhere",
                    crash_report::Entity::delete_many().filter(reports()).build(backend),
                ),
                (
                    "crash_report_by_time|crash_report_anywhere",
                    crash_part::Entity::delete_many().filter(parts_of(reports())).build(backend),
                ),
            ] {
                engine.assert_uses(index, query).await;
            }
        }
    }
}
