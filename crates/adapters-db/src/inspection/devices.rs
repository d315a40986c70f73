//! The devices of an organization and their last status, by name, then GUID.

use crate::connections::Connections;
use crate::device_status::stored;
use crate::entity::{device, device_status, organization};
use crate::page::{BUDGET, Pace, PageRow, Pages};
use domain::caller::OrganizationId;
use domain::device_status::Status;
use domain::error::StoreError;
use domain::inspection::{DeviceCount, InspectedDevice};
use domain::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, DbErr, EntityTrait, FromQueryResult, JoinType, QueryFilter, QueryOrder, QueryResult, QuerySelect,
    QueryTrait, Statement,
};
use std::future::ready;
use std::sync::Arc;
use uuid::Uuid;

/// Lists devices; where `statuses` names any, only devices whose last status is one of them.
pub(super) fn list(
    db: Arc<Connections>,
    organization: OrganizationId,
    statuses: &[Status],
) -> BoxStream<'static, Result<InspectedDevice, StoreError>> {
    let statuses = statuses.iter().map(|status| status.as_str()).collect();
    let scan = Scan { db, organization, statuses, pace: Pace::new(BUDGET), after: None, is_at_end: false };
    scan.rows().and_then(|row| ready(row.inspected())).boxed()
}

/// Counts the devices of all organizations by organization and last status.
pub(super) async fn count(db: &Connections, silent_before: Timestamp) -> Result<Vec<DeviceCount>, StoreError> {
    let is_silent = device_status::Column::ReceivedAt.lt(silent_before.as_micros());
    let to_organization = device::Entity::belongs_to(organization::Entity)
        .from(device::Column::OrganizationId)
        .to(organization::Column::Id)
        .into();
    let select = device::Entity::find()
        .select_only()
        .column(organization::Column::Name)
        .column(device_status::Column::Status)
        .column_as(device::Column::Guid.count(), "devices")
        .column_as(Expr::expr(Expr::case(is_silent, 1).finally(0)).sum(), "silent")
        .join(JoinType::InnerJoin, to_organization)
        .left_join(device_status::Entity)
        .filter(device::Column::RetiredAt.is_null())
        .group_by(organization::Column::Name)
        .group_by(device_status::Column::Status);
    let rows = db.read(select.into_model::<CountRow>().all(&db.reads)).await?;
    rows.into_iter().map(CountRow::counted).collect()
}

#[derive(FromQueryResult)]
struct CountRow {
    name: String,
    status: Option<String>,
    devices: i64,
    silent: i64,
}

impl CountRow {
    fn counted(self) -> Result<DeviceCount, StoreError> {
        let parse = |status: String| {
            Status::parse(&status).ok_or(StoreError::Corrupt { what: "status of a device", id: status })
        };
        Ok(DeviceCount {
            organization: self.name,
            status: self.status.map(parse).transpose()?,
            devices: self.devices.cast_unsigned(),
            silent: self.silent.cast_unsigned(),
        })
    }
}

/// A device and, where it has one, its status.
struct Row {
    device: device::Model,
    status: Option<device_status::Model>,
}

impl FromQueryResult for Row {
    /// Reads the columns of a select of two entities, which sea-orm names `A_…` and `B_…`.
    fn from_query_result(row: &QueryResult, _: &str) -> Result<Self, DbErr> {
        Ok(Self {
            device: device::Model::from_query_result(row, "A_")?,
            status: device_status::Model::from_query_result_optional(row, "B_")?,
        })
    }
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let of_status = self.status.as_ref().map_or(0, |status| {
            let texts = [&status.message, &status.connection_message].into_iter().flatten().map(String::len);
            status.remaining_inks.len() + texts.sum::<usize>()
        });
        size_of::<Self>() + self.device.name.len() + of_status
    }
}

impl Row {
    fn inspected(self) -> Result<InspectedDevice, StoreError> {
        let status = self.status.map(stored).transpose()?;
        Ok(InspectedDevice { guid: self.device.guid.into(), name: self.device.name, status })
    }
}

/// Reads the devices page by page.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    statuses: Vec<&'static str>,
    pace: Pace,
    /// Name and GUID of the last device read.
    after: Option<(String, Uuid)>,
    is_at_end: bool,
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        if self.is_at_end {
            return Ok(None);
        }
        let statement = self.page();
        let page = self.pace.read::<Row>(&self.db, statement).await?;
        self.is_at_end = page.last;
        self.after = page.rows.last().map(|row| (row.device.name.clone(), row.device.guid));
        Ok(Some(page.rows))
    }
}

impl Scan {
    /// An organization has so few devices that each page may sort them: no index serves this order.
    fn page(&self) -> Statement {
        use device::Column;
        let key = Expr::tuple([Column::Name, Column::Guid].map(ColumnTrait::into_expr));
        let of_statuses = (!self.statuses.is_empty()).then(|| self.statuses.clone());
        device::Entity::find()
            .find_also_related(device_status::Entity)
            .filter(Column::OrganizationId.eq(self.organization.0))
            .filter(Column::RetiredAt.is_null())
            .apply_if(of_statuses, |select, statuses| select.filter(device_status::Column::Status.is_in(statuses)))
            .apply_if(self.after.clone(), |select, (name, guid)| {
                select.filter(key.gt(Expr::tuple([name.into(), guid.into()])))
            })
            .order_by_asc(Column::Name)
            .order_by_asc(Column::Guid)
            .limit(self.pace.limit)
            .build(self.db.backend)
    }
}
