//! The devices of an organization and their last status, by name, then GUID.

use crate::connections::Connections;
use crate::device_status::stored;
use crate::entity::device_status;
use crate::page::{BUDGET, Pace, PageRow, Pages};
use domain::caller::OrganizationId;
use domain::device_status::Status;
use domain::error::StoreError;
use domain::inspection::InspectedDevice;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{DbBackend, FromQueryResult, Statement, Value};
use std::future::ready;
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn list(
    db: Arc<Connections>,
    organization: OrganizationId,
    statuses: &[Status],
) -> BoxStream<'static, Result<InspectedDevice, StoreError>> {
    let statuses = statuses.iter().map(|status| status.as_str()).collect();
    let scan = Scan { db, organization, statuses, pace: Pace::new(BUDGET), place: Place::Behind(None) };
    scan.rows().and_then(|row| ready(row.device())).boxed()
}

/// A device and, where it has one, its status.
#[derive(FromQueryResult)]
struct Row {
    guid: Uuid,
    name: String,
    organization_id: i64,
    received_at: Option<i64>,
    status: Option<String>,
    message: Option<String>,
    temperature: Option<f64>,
    connection_state: Option<String>,
    connection_message: Option<String>,
    remaining_inks: Option<String>,
    queue_measure: Option<String>,
    queue_amount: Option<String>,
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let texts = [&self.message, &self.connection_message, &self.remaining_inks];
        let texts = texts.iter().map(|text| text.as_ref().map_or(0, String::len));
        size_of::<Self>() + self.name.len() + texts.sum::<usize>()
    }
}

impl Row {
    fn device(self) -> Result<InspectedDevice, StoreError> {
        let (guid, name) = (self.guid.into(), self.name);
        // Columns that are never null in a status are null all together where there is none.
        let (Some(received_at), Some(status), Some(remaining_inks), Some(queue_measure), Some(queue_amount)) =
            (self.received_at, self.status, self.remaining_inks, self.queue_measure, self.queue_amount)
        else {
            return Ok(InspectedDevice { guid, name, status: None });
        };
        let status = stored(device_status::Model {
            organization_id: self.organization_id,
            device_guid: self.guid,
            received_at,
            status,
            message: self.message,
            temperature: self.temperature,
            connection_state: self.connection_state,
            connection_message: self.connection_message,
            remaining_inks,
            queue_measure,
            queue_amount,
        })?;
        Ok(InspectedDevice { guid, name, status: Some(status) })
    }
}

/// The way through the devices.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    statuses: Vec<&'static str>,
    pace: Pace,
    place: Place,
}

/// Where the next page begins.
enum Place {
    /// Behind this name and GUID.
    Behind(Option<(String, Uuid)>),
    End,
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Place::Behind(behind) = std::mem::replace(&mut self.place, Place::End) else {
            return Ok(None);
        };
        let statement = page(&self.db, self.organization, &self.statuses, behind, self.pace.limit);
        let page = self.pace.read::<Row>(&self.db, statement).await?;
        if let (Some(row), false) = (page.rows.last(), page.last) {
            self.place = Place::Behind(Some((row.name.clone(), row.guid)));
        }
        Ok(Some(page.rows))
    }
}

/// An organization has so few devices that each page may sort them: no index is kept for it.
fn page(
    db: &Connections,
    organization: OrganizationId,
    statuses: &[&'static str],
    behind: Option<(String, Uuid)>,
    limit: u64,
) -> Statement {
    // Names are compared by the numbers of their characters, whatever the language of the database.
    let name = match db.backend {
        DbBackend::Postgres => "device.name COLLATE \"C\"",
        _ => "device.name",
    };
    let mut values: Vec<Value> = vec![organization.0.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()];
    let mut place = |value: Value| {
        values.push(value);
        format!("${}", values.len())
    };
    let statuses: Vec<String> = statuses.iter().map(|status| place((*status).into())).collect();
    let of_status = if statuses.is_empty() {
        String::new()
    } else {
        format!("AND device_status.status IN ({})", statuses.join(", "))
    };
    let behind = behind.map_or_else(String::new, |(last, guid)| {
        format!("AND ({name}, device.guid) > ({}, {})", place(last.into()), place(guid.into()))
    });
    let sql = format!(
        "SELECT device.guid, device.name, device.organization_id, device_status.received_at, device_status.status,
            device_status.message, device_status.temperature, device_status.connection_state,
            device_status.connection_message, device_status.remaining_inks, device_status.queue_measure,
            device_status.queue_amount
        FROM device LEFT JOIN device_status
            ON device_status.organization_id = device.organization_id AND device_status.device_guid = device.guid
        WHERE device.organization_id = $1 {of_status} {behind}
        ORDER BY {name}, device.guid LIMIT $2"
    );
    db.statement(&sql, values)
}
