//! The last status of each device: [`domain::device_status::DeviceStatusRepository`].

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::device_status::{Column, Entity, Model};
use crate::error::FailedTransaction;
use crate::group_commit::{BatchWriter, GroupCommit};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::device_status::{ConnectionState, DeviceStatus, DeviceStatusRepository, QueueLength, RemainingInk, Status};
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait, IntoActiveModel, Iterable};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// Microseconds. Of two updates whose times of receipt are closer than this, the one received later wins (decision D5).
/// Where they are further apart, a clock was set back, and the update that was put last wins: a clock that ran ahead
/// must not hold a device at its old status.
const CONCURRENT: i64 = 1_000_000;

/// The statuses in a database. Statuses that arrive together are committed together.
pub struct SqlDeviceStatusRepository {
    db: Arc<Connections>,
    commits: Arc<GroupCommit<Model>>,
}

impl SqlDeviceStatusRepository {
    pub(crate) fn new(db: Arc<Connections>, commits: Arc<GroupCommit<Model>>) -> Self {
        Self { db, commits }
    }
}

#[async_trait]
impl DeviceStatusRepository for SqlDeviceStatusRepository {
    async fn put(&self, organization: OrganizationId, status: DeviceStatus) -> Result<(), StoreError> {
        let row = new_row(organization, status);
        let bytes = text_bytes(&row);
        Ok(self.commits.add(row, bytes).await?)
    }

    async fn find(&self, organization: OrganizationId, device: DeviceGuid) -> Result<Option<DeviceStatus>, StoreError> {
        let select = Entity::find_by_id((organization.0, device.as_uuid()));
        self.db.read(select.one(&self.db.reads)).await?.map(stored).transpose()
    }
}

/// Writes batches of statuses.
pub(crate) struct StatusWriter(pub(crate) DatabaseConnection);

#[async_trait]
impl BatchWriter for StatusWriter {
    type Row = Model;

    async fn write(&self, rows: &[Model]) -> Result<(), FailedTransaction<DbErr>> {
        let rows = last_of_each_device(rows).into_iter().map(|row| row.clone().into_active_model());
        let insert = Entity::insert_many(rows).on_conflict(replace_unless_older());
        insert.exec_without_returning(&self.0).await.map(drop).map_err(FailedTransaction::in_commit)
    }
}

/// One statement can't write a row twice. The order of the keys is the same in every process, so that two of them never
/// wait for each other.
fn last_of_each_device(rows: &[Model]) -> Vec<&Model> {
    let mut last: BTreeMap<(i64, Uuid), &Model> = BTreeMap::new();
    for row in rows {
        let stored = last.entry((row.organization_id, row.device_guid)).or_insert(row);
        if replaces(row, stored) {
            *stored = row;
        }
    }
    last.into_values().collect()
}

/// Whether `row` replaces `stored`, which was put before it.
fn replaces(row: &Model, stored: &Model) -> bool {
    row.received_at >= stored.received_at || stored.received_at >= row.received_at.saturating_add(CONCURRENT)
}

/// The same rule in the database.
fn replace_unless_older() -> OnConflict {
    let stored = || Expr::col((Entity, Column::ReceivedAt));
    let excluded = || Expr::col(("excluded", Column::ReceivedAt));
    let is_key = |column: &Column| matches!(column, Column::OrganizationId | Column::DeviceGuid);
    OnConflict::columns([Column::OrganizationId, Column::DeviceGuid])
        .update_columns(Column::iter().filter(|column| !is_key(column)))
        .action_and_where(excluded().gte(stored()).or(stored().gte(excluded().add(CONCURRENT))))
        .to_owned()
}

fn new_row(organization: OrganizationId, status: DeviceStatus) -> Model {
    let inks = status.remaining_inks.iter().map(|ink| (ink.index, &ink.name, ink.level, ink.max_level));
    // Amounts are text, which holds doubles and whole numbers of 64 bits without loss.
    let (measure, amount) = match status.queue_length {
        QueueLength::Length(units) => ("Length", units.to_string()),
        QueueLength::Area(units) => ("Area", units.to_string()),
        QueueLength::Sheets(sheets) => ("Sheets", sheets.to_string()),
    };
    Model {
        organization_id: organization.0,
        device_guid: status.device.as_uuid(),
        received_at: status.received.as_micros(),
        status: status.status.as_str().to_owned(),
        // Numbers and texts can always be written.
        remaining_inks: serde_json::to_string(&inks.collect::<Vec<_>>()).unwrap_or_default(),
        message: status.message,
        temperature: status.temperature,
        connection_state: status.connection_state.map(|state| state.as_str().to_owned()),
        connection_message: status.connection_message,
        queue_measure: measure.to_owned(),
        queue_amount: amount,
    }
}

/// Bytes of the texts.
fn text_bytes(row: &Model) -> usize {
    let texts = [&row.message, &row.connection_message];
    row.remaining_inks.len() + texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum::<usize>()
}

/// An ink in the JSON of the column: index, name, level, maximum level.
type InkColumns = (f64, String, f64, f64);

pub(crate) fn stored(row: Model) -> Result<DeviceStatus, StoreError> {
    let device = DeviceGuid::from(row.device_guid);
    let owner = Owner { what: "device status", id: &device };
    let inks: Vec<InkColumns> = owner.need(serde_json::from_str(&row.remaining_inks).ok())?;
    let ink = |(index, name, level, max_level): InkColumns| RemainingInk { index, name, level, max_level };
    let connection_state = row.connection_state.map(|state| owner.need(ConnectionState::parse(&state)));
    Ok(DeviceStatus {
        device,
        received: Timestamp::from_micros(row.received_at),
        status: owner.need(Status::parse(&row.status))?,
        message: row.message,
        temperature: row.temperature,
        connection_state: connection_state.transpose()?,
        connection_message: row.connection_message,
        remaining_inks: inks.into_iter().map(ink).collect(),
        queue_length: owner.need(queue_length(&row.queue_measure, &row.queue_amount))?,
    })
}

fn queue_length(measure: &str, amount: &str) -> Option<QueueLength> {
    match measure {
        "Length" => amount.parse().ok().map(QueueLength::Length),
        "Area" => amount.parse().ok().map(QueueLength::Area),
        "Sheets" => amount.parse().ok().map(QueueLength::Sheets),
        _ => None,
    }
}
