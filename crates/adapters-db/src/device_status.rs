//! The last status of each device: [`domain::device_status::DeviceStatusRepository`].

use crate::convert::Owner;
use crate::core::Core;
use crate::entity::device_status::{ActiveModel, Column, Entity, Model};
use crate::group_commit::{GroupCommit, Record};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::device_status::{ConnectionState, DeviceStatus, DeviceStatusRepository, QueueLength, RemainingInk, Status};
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::timestamp::Timestamp;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{EntityTrait, InsertMany};
use std::sync::Arc;
use uuid::Uuid;

/// Times of receipt that are less than this many microseconds apart belong to concurrent updates, of
/// which the later one wins. Where they are further apart, the clock of a process was set back or
/// differs from another's, and the update that was made last wins: a device must not be stuck at the
/// status from a clock that ran ahead.
const CONCURRENT: i64 = 1_000_000;

/// The statuses in a database. Statuses that arrive together are committed together.
pub struct SqlDeviceStatusRepository {
    core: Arc<Core>,
    group: Arc<GroupCommit>,
}

impl SqlDeviceStatusRepository {
    pub(crate) fn new(core: Arc<Core>, group: Arc<GroupCommit>) -> Self {
        Self { core, group }
    }
}

#[async_trait]
impl DeviceStatusRepository for SqlDeviceStatusRepository {
    async fn put(&self, organization: OrganizationId, status: DeviceStatus) -> Result<(), StoreError> {
        let inks = status.remaining_inks.iter().map(|ink| ink.name.len() + 64).sum::<usize>();
        let texts = [&status.message, &status.connection_message];
        let bytes = inks + texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum::<usize>();
        self.group.add(Record::Status(Box::new(NewStatus::new(organization, status))), bytes).await
    }

    async fn find(&self, organization: OrganizationId, device: DeviceGuid) -> Result<Option<DeviceStatus>, StoreError> {
        let select = Entity::find_by_id((organization.0, device.as_uuid()));
        self.core.read(select.one(&self.core.reads)).await?.map(stored).transpose()
    }
}

/// A status on its way into the database.
pub(crate) struct NewStatus {
    /// Organization and device.
    pub(crate) key: (i64, Uuid),
    received: i64,
    row: ActiveModel,
}

impl NewStatus {
    fn new(organization: OrganizationId, status: DeviceStatus) -> Self {
        let key = (organization.0, status.device.as_uuid());
        let received = status.received.as_micros();
        Self { key, received, row: new_row(organization, status) }
    }

    /// Whether it takes the place of `former`, which was made before it. [`replace`] says the same.
    pub(crate) fn replaces(&self, former: &Self) -> bool {
        self.received >= former.received || former.received >= self.received.saturating_add(CONCURRENT)
    }
}

/// Stores statuses of different devices, each in place of the device's former one.
pub(crate) fn replace<'a>(statuses: impl IntoIterator<Item = &'a NewStatus>) -> InsertMany<ActiveModel> {
    let excluded = Expr::col(("excluded", Column::ReceivedAt));
    let former = Expr::col((Entity, Column::ReceivedAt));
    let is_later = excluded.clone().gte(former.clone());
    let is_not_concurrent = former.gte(excluded.add(CONCURRENT));
    let on_conflict = OnConflict::columns([Column::OrganizationId, Column::DeviceGuid])
        .update_columns([
            Column::ReceivedAt,
            Column::Status,
            Column::Message,
            Column::Temperature,
            Column::ConnectionState,
            Column::ConnectionMessage,
            Column::RemainingInks,
            Column::QueueMeasure,
            Column::QueueAmount,
        ])
        .action_and_where(is_later.or(is_not_concurrent))
        .to_owned();
    Entity::insert_many(statuses.into_iter().map(|status| status.row.clone())).on_conflict(on_conflict)
}

/// An ink in the JSON of the column: index, name, level, maximum level.
type InkColumns = (f64, String, f64, f64);

fn new_row(organization: OrganizationId, status: DeviceStatus) -> ActiveModel {
    let ink = |ink: RemainingInk| -> InkColumns { (ink.index, ink.name, ink.level, ink.max_level) };
    let inks: Vec<InkColumns> = status.remaining_inks.into_iter().map(ink).collect();
    // Amounts are kept as text: it holds doubles and whole numbers of 64 bits alike without loss.
    let (measure, amount) = match status.queue_length {
        QueueLength::Length(units) => ("Length", units.to_string()),
        QueueLength::Area(units) => ("Area", units.to_string()),
        QueueLength::Sheets(sheets) => ("Sheets", sheets.to_string()),
    };
    ActiveModel {
        organization_id: Set(organization.0),
        device_guid: Set(status.device.as_uuid()),
        received_at: Set(status.received.as_micros()),
        status: Set(status.status.as_str().to_owned()),
        message: Set(status.message),
        temperature: Set(status.temperature),
        connection_state: Set(status.connection_state.map(|state| state.as_str().to_owned())),
        connection_message: Set(status.connection_message),
        remaining_inks: Set(serde_json::json!(inks).to_string()),
        queue_measure: Set(measure.to_owned()),
        queue_amount: Set(amount),
    }
}

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
