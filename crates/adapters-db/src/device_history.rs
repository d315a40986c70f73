//! The past of devices: [`domain::device_history::DeviceHistoryRepository`]. It is written with the statuses.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::device_status::{inks, queue_length};
use crate::entity::device_history::{Column, Entity, Model};
use crate::page::{BUDGET, Pace, PageRow, Pages};
use domain::caller::OrganizationId;
use domain::device_history::{DeviceHistoryRepository, DeviceSample, Period, StateChange, Thinning};
use domain::device_status::{ConnectionState, Status};
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QueryResult, QuerySelect, QueryTrait,
    Select,
};
use std::future::ready;
use std::sync::Arc;

/// The past of devices in a database.
pub struct SqlDeviceHistoryRepository {
    db: Arc<Connections>,
}

impl SqlDeviceHistoryRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

impl DeviceHistoryRepository for SqlDeviceHistoryRepository {
    fn changes(
        &self,
        organization: OrganizationId,
        device: DeviceGuid,
        period: Period,
    ) -> BoxStream<'static, Result<StateChange, StoreError>> {
        let db = Arc::clone(&self.db);
        let begin = async move {
            let before = || of_device(organization, device).filter(Column::ReceivedAt.lt(period.from.as_micros()));
            let change = db.read(newest(changes(before())).one(&db.reads)).await?;
            match change {
                Some(change) => Ok::<_, StoreError>(Some(change)),
                // The change is no longer kept; a sample still has the state.
                None => db.read(newest(before()).one(&db.reads)).await,
            }
        };
        let begin = stream::once(begin).try_filter_map(|row| ready(row.map(change).transpose()));
        let rows = Scan::new(self.db.clone(), changes(within(organization, device, period)), period.from).rows();
        begin.chain(rows.and_then(|row| ready(change(row.0)))).boxed()
    }

    fn samples(
        &self,
        organization: OrganizationId,
        device: DeviceGuid,
        period: Period,
        most: u32,
    ) -> BoxStream<'static, Result<DeviceSample, StoreError>> {
        let select = within(organization, device, period).filter(Column::RemainingInks.is_not_null());
        let mut thinning = Thinning::new(period, most);
        let rows = Scan::new(self.db.clone(), select, period.from).rows();
        rows.try_filter(move |row| ready(thinning.chooses(Timestamp::from_micros(row.0.received_at))))
            .and_then(|row| ready(sample(row.0)))
            .boxed()
    }
}

fn of_device(organization: OrganizationId, device: DeviceGuid) -> Select<Entity> {
    Entity::find().filter(Column::OrganizationId.eq(organization.0)).filter(Column::DeviceGuid.eq(device.as_uuid()))
}

fn within(organization: OrganizationId, device: DeviceGuid, period: Period) -> Select<Entity> {
    of_device(organization, device).filter(Column::ReceivedAt.lte(period.to.as_micros()))
}

/// The condition is that of the index.
fn changes(select: Select<Entity>) -> Select<Entity> {
    select.filter(Expr::col(Column::IsChange))
}

fn newest(select: Select<Entity>) -> Select<Entity> {
    select.order_by_desc(Column::ReceivedAt).limit(1)
}

struct Row(Model);

impl FromQueryResult for Row {
    fn from_query_result(row: &QueryResult, prefix: &str) -> Result<Self, DbErr> {
        Model::from_query_result(row, prefix).map(Self)
    }
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let texts = [&self.0.message, &self.0.connection_message, &self.0.remaining_inks];
        size_of::<Self>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// Reads rows of one device page by page, oldest first.
struct Scan {
    db: Arc<Connections>,
    select: Select<Entity>,
    pace: Pace,
    /// Time of the next row at the earliest; `None` at the end.
    from: Option<i64>,
}

impl Scan {
    fn new(db: Arc<Connections>, select: Select<Entity>, from: Timestamp) -> Self {
        Self { db, select, pace: Pace::new(BUDGET), from: Some(from.as_micros()) }
    }
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Some(from) = self.from else {
            return Ok(None);
        };
        let page = page(self.select.clone(), from).limit(self.pace.limit).build(self.db.backend);
        let page = self.pace.read::<Row>(&self.db, page).await?;
        let last = page.rows.last().filter(|_| !page.last);
        self.from = last.and_then(|row| row.0.received_at.checked_add(1));
        Ok(Some(page.rows))
    }
}

fn page(select: Select<Entity>, from: i64) -> Select<Entity> {
    select.filter(Column::ReceivedAt.gte(from)).order_by_asc(Column::ReceivedAt)
}

pub(crate) fn change(row: Model) -> Result<StateChange, StoreError> {
    let device = DeviceGuid::from(row.device_guid);
    let owner = Owner { what: "device history", id: &device };
    let connection_state = row.connection_state.map(|state| owner.need(ConnectionState::parse(&state)));
    Ok(StateChange {
        at: Timestamp::from_micros(row.received_at),
        status: owner.need(Status::parse(&row.status))?,
        message: row.message,
        connection_state: connection_state.transpose()?,
        connection_message: row.connection_message,
    })
}

fn sample(row: Model) -> Result<DeviceSample, StoreError> {
    let device = DeviceGuid::from(row.device_guid);
    let owner = Owner { what: "device history", id: &device };
    let (measure, amount) = (owner.need(row.queue_measure)?, owner.need(row.queue_amount)?);
    Ok(DeviceSample {
        at: Timestamp::from_micros(row.received_at),
        temperature: row.temperature,
        remaining_inks: owner.need(row.remaining_inks.as_deref().and_then(inks))?,
        queue_length: owner.need(queue_length(&measure, &amount))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const HISTORY: &str = "INSERT INTO device_history (organization_id, device_guid, received_at, status, is_change,
            remaining_inks, queue_measure, queue_amount)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT 7, {guid}, 1000000 + n, 'Idle', n % 20 = 0, '[]', 'Length', '0' FROM numbers";

    #[tokio::test]
    async fn the_past_of_a_device_is_read_by_its_indexes() {
        let device = DeviceGuid::from(uuid::Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff));
        for engine in engines().await {
            let backend = engine.db().backend;
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "md5((n % 10)::text)::uuid" };
            engine.run(&HISTORY.replace("{guid}", guid)).await;
            engine.run("ANALYZE").await;
            let (acme, period) =
                (OrganizationId(7), Period { from: Timestamp::EPOCH, to: Timestamp::from_micros(1 << 40) });
            let all = || within(acme, device, period);
            engine.assert_uses("device_history_changes", page(changes(all()), 0).build(backend)).await;
            engine.assert_uses("device_history_changes", newest(changes(of_device(acme, device))).build(backend)).await;
            let samples = all().filter(Column::RemainingInks.is_not_null());
            let key = if engine.name == "SQLite" { "sqlite_autoindex_device_history_1" } else { "device_history_pkey" };
            engine.assert_uses(key, page(samples, 0).build(backend)).await;
            engine.assert_uses(key, newest(of_device(acme, device)).build(backend)).await;
        }
    }
}
