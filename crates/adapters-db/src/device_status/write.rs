//! Writes batches of statuses, and what they mean for the past of the devices (decisions D5 and I1).
//!
//! The row of a status knows when its state changed last and when the last sample was taken. The upsert, which locks the
//! row, moves both forward; rows that it moved are then copied into the history, in the same transaction.

use crate::connections::Connections;
use crate::entity::device_history;
use crate::entity::device_status::{Column, Entity, Model};
use crate::error::FailedTransaction;
use crate::group_commit::BatchWriter;
use async_trait::async_trait;
use sea_orm::sea_query::{
    CaseStatement, CommonTableExpression, Expr, ExprTrait, Func, InsertStatement, OnConflict, Query, SelectStatement,
    WithClause,
};
use sea_orm::{
    Condition, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, EntityTrait, IntoActiveModel, Iterable,
    QueryTrait, Statement, TransactionTrait,
};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use uuid::Uuid;

/// Microseconds. Of two updates whose times of receipt differ by less than this, the one that was received later wins
/// (decision D5). A larger difference means that a clock was set back. Then the update that is written last wins: a
/// clock that ran ahead must not keep a device at an old status.
const CONCURRENT: i64 = 1_000_000;

/// The rows that the upsert wrote, on PostgreSQL.
const WRITTEN: &str = "written";

/// Writes batches of statuses.
pub(crate) struct StatusWriter {
    db: DatabaseConnection,
    /// Microseconds between two samples of a device at least.
    sample_every: i64,
}

impl StatusWriter {
    pub(crate) fn new(db: &Connections, sample_every: Duration) -> Self {
        let sample_every = i64::try_from(sample_every.as_micros()).unwrap_or(i64::MAX);
        Self { db: db.writes.clone(), sample_every }
    }

    /// The statements that store at most one status of each device. PostgreSQL needs one round trip. SQLite has no round
    /// trips, and no statement that writes two tables.
    fn statements(&self, rows: &Round<'_>, backend: DbBackend) -> Vec<Statement> {
        let mut upsert = self.upsert(rows.values().copied());
        if backend == DbBackend::Postgres {
            let mut written = CommonTableExpression::new();
            written.table_name(WRITTEN).query(upsert.returning_all().clone());
            let mut history = keep_history(Query::select().from(WRITTEN).take());
            history.with_cte(WithClause::new().cte(written).clone());
            return vec![backend.build(&history)];
        }
        let select = Query::select().from(Entity).cond_where(is_one_of(rows.keys())).take();
        vec![backend.build(&upsert), backend.build(&keep_history(select))]
    }

    fn upsert<'a>(&self, rows: impl Iterator<Item = &'a Model>) -> InsertStatement {
        let rows = rows.map(|row| row.clone().into_active_model());
        Entity::insert_many(rows).on_conflict(self.replace_unless_older()).into_query()
    }

    /// The same rule as [`replaces`], in SQL.
    fn replace_unless_older(&self) -> OnConflict {
        use Column::{
            ChangedAt, ConnectionState, DeviceGuid, EmptiesAt, OrganizationId, ReceivedAt, SampledAt, Status,
        };
        let stored = |column: Column| Expr::col((Entity, column));
        let excluded = |column: Column| Expr::col(("excluded", column));
        let text = |text: Expr| Expr::expr(Func::coalesce([text, Expr::val("")]));
        let is_change = stored(ChangedAt)
            .is_null()
            .or(excluded(Status).ne(stored(Status)))
            .or(text(excluded(ConnectionState)).ne(text(stored(ConnectionState))));
        // A clock that was set back must not stop the samples.
        let is_due = stored(SampledAt)
            .is_null()
            .or(excluded(ReceivedAt).gte(stored(SampledAt).add(self.sample_every)))
            .or(excluded(ReceivedAt).lt(stored(SampledAt)));
        let moved = |column: Column, condition: Expr| {
            let moved = CaseStatement::new().case(condition, excluded(ReceivedAt)).finally(stored(column));
            (column, Expr::expr(moved))
        };
        let is_plain =
            |column: &Column| !matches!(column, OrganizationId | DeviceGuid | ChangedAt | SampledAt | EmptiesAt);
        let is_newer = excluded(ReceivedAt).gte(stored(ReceivedAt));
        let was_set_back = stored(ReceivedAt).gte(excluded(ReceivedAt).add(CONCURRENT));
        OnConflict::columns([OrganizationId, DeviceGuid])
            .update_columns(Column::iter().filter(is_plain))
            .values([moved(ChangedAt, is_change), moved(SampledAt, is_due)])
            .action_and_where(is_newer.or(was_set_back))
            .to_owned()
    }
}

#[async_trait]
impl BatchWriter for StatusWriter {
    type Row = Model;

    async fn write(&self, rows: &[Model]) -> Result<(), FailedTransaction<DbErr>> {
        let backend = self.db.get_database_backend();
        let rounds = rounds(rows);
        let statements: Vec<Statement> = rounds.iter().flat_map(|round| self.statements(round, backend)).collect();
        if let [only] = &statements[..] {
            let written = self.db.execute_raw(only.clone()).await;
            return written.map(drop).map_err(FailedTransaction::in_commit);
        }
        let transaction = self.db.begin().await?;
        for statement in statements {
            transaction.execute_raw(statement).await?;
        }
        transaction.commit().await.map_err(FailedTransaction::in_commit)
    }
}

/// One status of each of some devices. The order of the keys is the same in every process, so that two of them never
/// wait for each other.
type Round<'a> = BTreeMap<(i64, Uuid), &'a Model>;

/// One statement can't write a row twice. Of the statuses of one device that were received within a second, only the
/// last is written; others are written one after the other, so that no change is lost (decision I1).
fn rounds(rows: &[Model]) -> Vec<Round<'_>> {
    let mut rounds: Vec<Round<'_>> = Vec::new();
    // The round of the last status of each device, and when the first one of that round was received.
    let mut last: HashMap<(i64, Uuid), (usize, i64)> = HashMap::new();
    for row in rows {
        let key = (row.organization_id, row.device_guid);
        let (round, first) = last.entry(key).or_insert((0, row.received_at));
        if row.received_at.abs_diff(*first) >= CONCURRENT.unsigned_abs() {
            (*round, *first) = (*round + 1, row.received_at);
        }
        if rounds.len() <= *round {
            rounds.push(BTreeMap::new());
        }
        let stored = rounds[*round].entry(key).or_insert(row);
        if replaces(row, stored) {
            *stored = row;
        }
    }
    rounds
}

/// Whether `row` replaces `stored`, which was put before it.
fn replaces(row: &Model, stored: &Model) -> bool {
    row.received_at >= stored.received_at || stored.received_at >= row.received_at.saturating_add(CONCURRENT)
}

/// The rows of these devices. SQLite finds no index for a list of pairs, but for the GUIDs of each organization.
fn is_one_of<'a>(keys: impl Iterator<Item = &'a (i64, Uuid)>) -> Condition {
    let mut devices: BTreeMap<i64, Vec<Uuid>> = BTreeMap::new();
    for (organization, device) in keys {
        devices.entry(*organization).or_default().push(*device);
    }
    devices.into_iter().fold(Condition::any(), |any, (organization, devices)| {
        let of_organization = Expr::col(Column::OrganizationId).eq(organization);
        any.add(of_organization.and(Expr::col(Column::DeviceGuid).is_in(devices)))
    })
}

/// Copies those of the selected statuses into the history that are a change or a sample.
fn keep_history(mut statuses: SelectStatement) -> InsertStatement {
    use device_history::Column as History;
    let is_moved = |column: Column| Expr::col(column).eq(Expr::col(Column::ReceivedAt));
    let of = |moved: Column, column: Column| Expr::expr(CaseStatement::new().case(is_moved(moved), Expr::col(column)));
    let state =
        [Column::OrganizationId, Column::DeviceGuid, Column::ReceivedAt, Column::Status, Column::ConnectionState];
    let messages = [Column::Message, Column::ConnectionMessage];
    let measured = [Column::Temperature, Column::RemainingInks, Column::QueueMeasure, Column::QueueAmount];
    statuses
        .exprs(state.map(Expr::col))
        .expr(is_moved(Column::ChangedAt))
        .exprs(messages.map(|column| of(Column::ChangedAt, column)))
        .exprs(measured.map(|column| of(Column::SampledAt, column)))
        .and_where(is_moved(Column::ChangedAt).or(is_moved(Column::SampledAt)));
    let key = [History::OrganizationId, History::DeviceGuid, History::ReceivedAt];
    let values = History::iter().skip(key.len());
    let mut insert = Query::insert();
    insert.into_table(device_history::Entity).columns(History::iter());
    insert.select_from(statuses).expect("as many values as columns");
    // Two statuses of one time are one record.
    insert.on_conflict(OnConflict::columns(key).update_columns(values).to_owned());
    insert
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::caller::OrganizationId;
    use domain::device_history::SAMPLE_EVERY;
    use domain::device_status::{DeviceStatus, Status};
    use domain::guid::DeviceGuid;
    use domain::testing::{a_status, at, numbered};
    use domain::timestamp::Timestamp;

    fn row(device: u128, millis: i64, status: Status) -> Model {
        let received = Timestamp::from_micros(at(0).as_micros() + millis * 1_000);
        let status = DeviceStatus { received, status, ..a_status(DeviceGuid::from(numbered(device))) };
        super::super::new_row(OrganizationId(7), status)
    }

    /// Decision I1: changes less than a second apart may be merged, others may not, however late the commit.
    #[tokio::test]
    async fn of_one_batch_every_change_is_kept_that_is_a_second_from_the_last() {
        let rows = [
            row(1, 0, Status::Idle),
            row(2, 0, Status::Idle),
            row(1, 1_000, Status::Printing),
            row(1, 1_400, Status::Aborting),
            row(1, 1_999, Status::Error),
            row(2, 10, Status::Error),
            row(1, 2_000, Status::Idle),
        ];
        assert_eq!(rounds(&rows).iter().map(BTreeMap::len).collect::<Vec<_>>(), [2, 1, 1]);
        for engine in engines().await {
            StatusWriter::new(engine.db(), SAMPLE_EVERY).write(&rows).await.unwrap();
            let count = async |sql: &str| engine.number(&format!("SELECT count(*) FROM device_history {sql}")).await;
            assert_eq!(count("").await, 4, "{}", engine.name);
            for status in ["Idle", "Error"] {
                assert_eq!(count(&format!("WHERE status = '{status}'")).await, 2, "{}", engine.name);
            }
            assert_eq!(count("WHERE remaining_inks IS NOT NULL").await, 2, "{}", engine.name);
        }
    }

    /// A status that an earlier version wrote has no history yet.
    #[tokio::test]
    async fn the_history_begins_with_the_next_status_after_an_update_of_the_program() {
        for engine in engines().await {
            let writer = StatusWriter::new(engine.db(), SAMPLE_EVERY);
            writer.write(&[row(1, 0, Status::Idle)]).await.unwrap();
            engine.run("DELETE FROM device_history").await;
            engine.run("UPDATE device_status SET changed_at = NULL, sampled_at = NULL").await;
            writer.write(&[row(1, 20, Status::Idle)]).await.unwrap();
            let whole = "SELECT count(*) FROM device_history WHERE is_change AND remaining_inks IS NOT NULL";
            assert_eq!(engine.number(whole).await, 1, "{}", engine.name);
        }
    }

    #[tokio::test]
    async fn statuses_of_a_batch_are_found_by_their_keys() {
        let rows: Vec<Model> = (0..1_000).map(|number| row(number, 0, Status::Idle)).collect();
        for engine in engines().await {
            let writer = StatusWriter::new(engine.db(), SAMPLE_EVERY);
            writer.write(&rows).await.unwrap();
            engine.run("ANALYZE").await;
            let other = Model { organization_id: 8, ..rows[0].clone() };
            let few: Vec<Model> = rows.iter().take(64).cloned().chain([other]).collect();
            for statement in writer.statements(&rounds(&few)[0], engine.db().backend) {
                let plan = engine.plan(statement).await;
                assert!(!plan.contains("SCAN device_status") && !plan.contains("Seq Scan"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
