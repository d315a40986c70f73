//! The last status of each device: [`domain::device_status::DeviceStatusRepository`].

use crate::convert::Owner;
use crate::core::Core;
use crate::entity::device_status::{Entity, Model};
use crate::group_commit::{Cell, GroupCommit, Kind, Record, Table, Written};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::device_status::{ConnectionState, DeviceStatus, DeviceStatusRepository, QueueLength, RemainingInk, Status};
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::timestamp::Timestamp;
use sea_orm::EntityTrait;
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
        let status = NewStatus::new(organization, status);
        let bytes = status.size();
        self.group.add(Record::Status(Box::new(status)), bytes).await
    }

    async fn find(&self, organization: OrganizationId, device: DeviceGuid) -> Result<Option<DeviceStatus>, StoreError> {
        let select = Entity::find_by_id((organization.0, device.as_uuid()));
        self.core.read(select.one(&self.core.reads)).await?.map(stored).transpose()
    }
}

/// Statuses as batches write them, each in place of the device's former one. [`NewStatus::replaces`] says
/// the same of two that wait.
pub(crate) static TABLE: Table = Table {
    name: "device_status",
    columns: &[
        ("organization_id", Kind::BigInt),
        ("device_guid", Kind::Guid),
        ("received_at", Kind::BigInt),
        ("status", Kind::Text),
        ("message", Kind::Text),
        ("temperature", Kind::Double),
        ("connection_state", Kind::Text),
        ("connection_message", Kind::Text),
        ("remaining_inks", Kind::Text),
        ("queue_measure", Kind::Text),
        ("queue_amount", Kind::Text),
    ],
    on_conflict: "ON CONFLICT (organization_id, device_guid) DO UPDATE SET received_at = excluded.received_at, \
                  status = excluded.status, message = excluded.message, temperature = excluded.temperature, \
                  connection_state = excluded.connection_state, connection_message = excluded.connection_message, \
                  remaining_inks = excluded.remaining_inks, queue_measure = excluded.queue_measure, \
                  queue_amount = excluded.queue_amount \
                  WHERE excluded.received_at >= device_status.received_at \
                  OR device_status.received_at >= excluded.received_at + 1000000",
};

/// A status on its way into the database.
pub(crate) struct NewStatus {
    organization: OrganizationId,
    status: DeviceStatus,
    inks: String,
    measure: &'static str,
    amount: String,
}

impl NewStatus {
    fn new(organization: OrganizationId, status: DeviceStatus) -> Self {
        let inks = status.remaining_inks.iter().map(|ink| (ink.index, &ink.name, ink.level, ink.max_level));
        // Numbers and texts can always be written.
        let inks = serde_json::to_string(&inks.collect::<Vec<_>>()).unwrap_or_default();
        // Amounts are kept as text: it holds doubles and whole numbers of 64 bits alike without loss.
        let (measure, amount) = match status.queue_length {
            QueueLength::Length(units) => ("Length", units.to_string()),
            QueueLength::Area(units) => ("Area", units.to_string()),
            QueueLength::Sheets(sheets) => ("Sheets", sheets.to_string()),
        };
        Self { organization, status, inks, measure, amount }
    }

    /// Organization and device.
    pub(crate) fn key(&self) -> (i64, Uuid) {
        (self.organization.0, self.status.device.as_uuid())
    }

    /// Whether it takes the place of `former`, which was made before it.
    pub(crate) fn replaces(&self, former: &Self) -> bool {
        let (received, former) = (self.status.received.as_micros(), former.status.received.as_micros());
        received >= former || former >= received.saturating_add(CONCURRENT)
    }

    /// Bytes of its texts.
    fn size(&self) -> usize {
        let texts = [&self.status.message, &self.status.connection_message];
        self.inks.len() + texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum::<usize>()
    }
}

impl Written for NewStatus {
    const TABLE: &'static Table = &TABLE;

    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let status = &self.status;
        cells.extend_from_slice(&[
            self.organization.0.into(),
            status.device.as_uuid().into(),
            status.received.as_micros().into(),
            Cell::Text(status.status.as_str()),
            status.message.as_ref().into(),
            status.temperature.into(),
            status.connection_state.map_or(Cell::Null, |state| Cell::Text(state.as_str())),
            status.connection_message.as_ref().into(),
            (&self.inks).into(),
            Cell::Text(self.measure),
            (&self.amount).into(),
        ]);
    }
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

#[cfg(test)]
mod tests {
    use super::{CONCURRENT, TABLE};

    #[test]
    fn the_statement_and_the_batch_agree_on_what_is_concurrent() {
        assert!(TABLE.on_conflict.ends_with(&format!("excluded.received_at + {CONCURRENT}")));
    }
}
