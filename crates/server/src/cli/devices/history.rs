//! `platen devices history`: changes of a device, or samples of its measured values.

use super::{find, inks_json, queue, queue_json, shares};
use crate::cli::listing::{Listing, Record};
use crate::cli::lookup::Organizations;
use crate::cli::output::Out;
use crate::cli::query::{Limit, QueryOptions, TimeRange};
use crate::cli::table::{Cell, Column};
use adapters_db::Database;
use anyhow::Result;
use clap::Args;
use domain::device_history::{DeviceHistoryRepository, DeviceSample, Period, StateChange};
use domain::device_status::ConnectionState;
use domain::inspection::InspectionRepository;
use domain::timestamp::Timestamp;
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::time::Duration;

/// What is shown unless a time is given.
pub(super) const LAST_WHILE: Duration = Duration::from_hours(24);

#[derive(Debug, Args)]
pub(super) struct History {
    /// The device, by its name or GUID, or the beginning of its GUID
    #[arg(value_name = "NAME|GUID")]
    device: String,
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    range: TimeRange,
    /// Samples of inks, temperature and queue instead of changes: this many at most, evenly over the time
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "1000")]
    samples: Option<u32>,
}

pub(super) async fn run(database: &Database, asked: &History, now: Timestamp, out: &mut Out<'_>) -> Result<()> {
    let inspection = database.inspection();
    let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
    let device = find(database, &organizations, &asked.device).await?;
    let organization = inspection.organizations(Some(device.organization)).await?;
    let Some(organization) = organization.first() else { return Ok(()) };
    let (from, to) = asked.range.bounds();
    let period = Period { from: from.unwrap_or(now.minus(LAST_WHILE)), to: to.unwrap_or(now) };
    let history = database.device_history();
    if let Some(most) = asked.samples {
        let samples = history.samples(organization.id, device.guid.into(), period, most).map_err(anyhow::Error::from);
        let listing = Listing::new(SAMPLE_COLUMNS, out, asked.options.json);
        return listing.write(samples.take(asked.limit.get()), "no samples found", out).await;
    }
    let changes = history.changes(organization.id, device.guid.into(), period).map_err(anyhow::Error::from);
    let listing = Listing::new(CHANGE_COLUMNS, out, asked.options.json);
    listing.write(changes.take(asked.limit.get()), "no changes found", out).await
}

pub(super) const CHANGE_COLUMNS: [Column; 5] = [
    Column::whole("TIME"),
    Column::text("STATUS"),
    Column::wide("MESSAGE"),
    Column::optional("CONNECTION"),
    Column::optional("CONNECTION MESSAGE"),
];

impl Record for StateChange {
    fn cells(&self) -> Vec<Cell> {
        let text = |text: &Option<String>| Cell::new(text.as_deref().unwrap_or_default());
        vec![
            Cell::new(self.at.to_string()),
            Cell::new(self.status.as_str()),
            text(&self.message),
            Cell::new(self.connection_state.map_or("-", ConnectionState::as_str)),
            text(&self.connection_message),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "at": self.at.precise(),
            "status": self.status.as_str(),
            "message": self.message,
            "connection_state": self.connection_state.map(ConnectionState::as_str),
            "connection_message": self.connection_message,
        })
    }
}

const SAMPLE_COLUMNS: [Column; 4] =
    [Column::whole("TIME"), Column::optional("TEMPERATURE"), Column::optional("QUEUE"), Column::text("INKS")];

impl Record for DeviceSample {
    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(self.at.to_string()),
            Cell::new(self.temperature.map_or_else(|| "-".to_owned(), |degrees| format!("{degrees} °C"))),
            Cell::new(queue(self.queue_length)),
            Cell::new(shares(&self.remaining_inks)),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "at": self.at.precise(),
            "temperature": self.temperature,
            "queue_length": queue_json(self.queue_length),
            "remaining_inks": inks_json(&self.remaining_inks),
        })
    }
}
