//! The last status of each device: [`domain::device_status::DeviceStatusRepository`].

mod write;

pub(crate) use write::StatusWriter;

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::device_status::{Entity, Model};
use crate::group_commit::GroupCommit;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::device_board::lowest_ink;
use domain::device_status::{ConnectionState, DeviceStatus, DeviceStatusRepository, QueueLength, RemainingInk, Status};
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::timestamp::Timestamp;
use sea_orm::EntityTrait;
use std::sync::Arc;

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
        // The values for a device without a status; the upsert corrects them.
        changed_at: Some(status.received.as_micros()),
        sampled_at: Some(status.received.as_micros()),
        lowest_ink: lowest_ink(&status.remaining_inks),
        // The upsert doesn't write this column; a forecast does.
        empties_at: None,
    }
}

/// Bytes of the texts.
fn text_bytes(row: &Model) -> usize {
    let texts = [&row.message, &row.connection_message];
    row.remaining_inks.len() + texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum::<usize>()
}

pub(crate) fn stored(row: Model) -> Result<DeviceStatus, StoreError> {
    let device = DeviceGuid::from(row.device_guid);
    let owner = Owner { what: "device status", id: &device };
    let connection_state = row.connection_state.map(|state| owner.need(ConnectionState::parse(&state)));
    Ok(DeviceStatus {
        device,
        received: Timestamp::from_micros(row.received_at),
        status: owner.need(Status::parse(&row.status))?,
        message: row.message,
        temperature: row.temperature,
        connection_state: connection_state.transpose()?,
        connection_message: row.connection_message,
        remaining_inks: owner.need(inks(&row.remaining_inks))?,
        queue_length: owner.need(queue_length(&row.queue_measure, &row.queue_amount))?,
    })
}

/// An ink in the JSON of the column: index, name, level, maximum level.
type InkColumns = (f64, String, f64, f64);

pub(crate) fn inks(column: &str) -> Option<Vec<RemainingInk>> {
    let inks: Vec<InkColumns> = serde_json::from_str(column).ok()?;
    let ink = |(index, name, level, max_level): InkColumns| RemainingInk { index, name, level, max_level };
    Some(inks.into_iter().map(ink).collect())
}

pub(crate) fn queue_length(measure: &str, amount: &str) -> Option<QueueLength> {
    match measure {
        "Length" => amount.parse().ok().map(QueueLength::Length),
        "Area" => amount.parse().ok().map(QueueLength::Area),
        "Sheets" => amount.parse().ok().map(QueueLength::Sheets),
        _ => None,
    }
}
