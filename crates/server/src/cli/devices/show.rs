//! `platen devices show`: a device with its status, the forecast of its inks and its last changes.

use super::history::{CHANGE_COLUMNS, LAST_WHILE};
use super::{DeviceRecord, View, find, queue, share};
use crate::cli::listing::{Record, json_line};
use crate::cli::lookup::Organizations;
use crate::cli::output::Out;
use crate::cli::query::QueryOptions;
use crate::cli::table::Table;
use crate::cli::values::{self, age};
use adapters_db::Database;
use anyhow::{Context, Result};
use clap::Args;
use domain::caller::OrganizationId;
use domain::device_history::{DeviceHistoryRepository, InkForecast, InkUsage, Period, StateChange};
use domain::device_status::{ConnectionState, DeviceStatus, RemainingInk, Reporting};
use domain::guid::DeviceGuid;
use domain::inspection::InspectionRepository;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::ready;

/// Most changes that are shown.
const MAX_CHANGES: usize = 20;

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The device, by its name or GUID, or the beginning of its GUID
    #[arg(value_name = "NAME|GUID")]
    device: String,
    #[command(flatten)]
    options: QueryOptions,
}

pub(super) async fn run(database: &Database, asked: &Show, view: View, out: &mut Out<'_>) -> Result<()> {
    let inspection = database.inspection();
    let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
    let found = find(database, &organizations, &asked.device).await?;
    let removed = "the device was removed meanwhile";
    let organization = inspection.organizations(Some(found.organization)).await?.pop().context(removed)?;
    let mut devices =
        inspection.devices(organization.id, Vec::new()).try_filter(|it| ready(it.guid.as_uuid() == found.guid));
    let device = devices.try_next().await?.context(removed)?;
    let record = DeviceRecord { organization: organization.name, device, view };
    let past = Past::read(&database.device_history(), organization.id, found.guid.into(), view).await?;
    if asked.options.json { json_line(out, &past.json(&record)) } else { past.show(&record, out) }
}

/// What is known of the past of a device.
struct Past {
    /// Oldest first.
    changes: VecDeque<StateChange>,
    forecast: Vec<InkForecast>,
}

impl Past {
    async fn read(
        history: &dyn DeviceHistoryRepository,
        organization: OrganizationId,
        device: DeviceGuid,
        view: View,
    ) -> Result<Self> {
        let last = |age| Period { from: view.now.minus(age), to: view.now };
        let mut changes = VecDeque::new();
        let mut all = history.changes(organization, device, last(LAST_WHILE));
        while let Some(change) = all.try_next().await? {
            changes.truncate(MAX_CHANGES - 1);
            changes.push_front(change);
        }
        changes.make_contiguous().reverse();
        let mut usage = InkUsage::default();
        let mut samples = history.samples(organization, device, last(InkUsage::WINDOW), u32::MAX);
        while let Some(sample) = samples.try_next().await? {
            usage.add(&sample);
        }
        Ok(Self { changes, forecast: usage.forecast() })
    }

    fn of(&self, ink: &RemainingInk) -> Option<&InkForecast> {
        self.forecast.iter().find(|of| of.name == ink.name && of.index.total_cmp(&ink.index).is_eq())
    }

    fn json(&self, record: &DeviceRecord) -> Value {
        let forecast = |ink: &InkForecast| {
            json!({
                "index": ink.index, "name": ink.name, "per_day": ink.per_day,
                "empties_at": ink.empties_at.precise(),
            })
        };
        let mut json = record.json();
        json["forecast"] = self.forecast.iter().map(forecast).collect();
        json["changes"] = self.changes.iter().map(Record::json).collect();
        json
    }

    fn show(&self, record: &DeviceRecord, out: &mut Out<'_>) -> Result<()> {
        let DeviceRecord { organization, device, view } = record;
        let mut facts = vec![
            ("Device", device.name.clone()),
            ("DeviceGUID", device.guid.to_string()),
            ("Organization", organization.clone()),
        ];
        match &device.status {
            Some(status) => facts.extend(self.of_status(status, record.reporting(), *view)),
            None => facts.push(("Status", "never seen".to_owned())),
        }
        values::facts(out, &facts)?;
        if self.changes.is_empty() {
            return Ok(());
        }
        out.line("")?;
        let mut table = Table::new(CHANGE_COLUMNS, out.screen());
        for change in &self.changes {
            table.row(out, change.cells())?;
        }
        table.flush(out)
    }

    /// The last status of a silent device is its past (decision I3).
    fn of_status(&self, status: &DeviceStatus, reporting: Reporting, view: View) -> Vec<(&'static str, String)> {
        let (word, age) = (status.status.as_str(), age(status.received, view.now));
        let shown = match reporting {
            Reporting::Silent => format!("silent for {age}; it was {word}"),
            _ => format!("{word} ({age} ago)"),
        };
        let connection = [
            status.connection_state.map_or("", ConnectionState::as_str),
            status.connection_message.as_deref().unwrap_or_default(),
        ];
        let mut facts = vec![
            ("Status", shown),
            ("Message", status.message.clone().unwrap_or_default()),
            ("Connection", connection.join(" ").trim().to_owned()),
            ("Temperature", status.temperature.map(|degrees| format!("{degrees} °C")).unwrap_or_default()),
            ("Queue", queue(status.queue_length)),
        ];
        for ink in &status.remaining_inks {
            let level = share(ink).map_or_else(|| "?".to_owned(), |share| format!("{:.0}%", share * 100.0));
            let forecast = self.of(ink).map(|of| format!(", {:.1} ml a day, empty {}", of.per_day, of.empties_at));
            facts.push(("Ink", format!("{} {level}{}", ink.name, forecast.unwrap_or_default())));
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::device_status::{DeviceStatusRepository, QueueLength, SILENT_AFTER, Status};
    use domain::inspection::InspectedDevice;
    use domain::testing::{InMemoryStore, a_status, acme_records, at};

    const ACME: OrganizationId = OrganizationId(1);
    const DAY: i64 = 86_400;

    fn status(seconds: i64, word: Status, level: f64) -> DeviceStatus {
        let ink = RemainingInk { index: 1.0, name: "Cyan\u{1b}".to_owned(), level, max_level: 1_000.0 };
        DeviceStatus {
            received: at(seconds),
            status: word,
            message: Some("Order 17".to_owned()),
            remaining_inks: vec![ink],
            queue_length: QueueLength::Sheets(3),
            ..a_status(acme_records().device)
        }
    }

    async fn shown(statuses: &[DeviceStatus], seconds: i64, as_json: bool) -> Vec<String> {
        let store = InMemoryStore::new();
        for status in statuses {
            store.put(ACME, status.clone()).await.unwrap();
        }
        let view = View { now: at(seconds), silent_after: SILENT_AFTER, on_terminal: false };
        let guid = acme_records().device;
        let device = InspectedDevice { guid, name: "Latex 1".to_owned(), status: statuses.last().cloned() };
        let record = DeviceRecord { organization: "Acme Print".to_owned(), device, view };
        let past = Past::read(&store, ACME, guid, view).await.unwrap();
        let mut answer = Vec::new();
        let mut out = Out::new(&mut answer, Screen::PIPE);
        if as_json { json_line(&mut out, &past.json(&record)) } else { past.show(&record, &mut out) }.unwrap();
        String::from_utf8(answer).unwrap().lines().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn a_device_is_shown_with_the_forecast_of_its_inks_and_its_changes() {
        // Decisions I1 and I2: 10 ml a day, 10 ml left.
        let all = [status(0, Status::Idle, 30.0), status(2 * DAY, Status::Printing, 10.0)];
        let lines = shown(&all, 2 * DAY + 60, false).await;
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        assert!(
            has("Printing (1m ago)") && has("Cyan\\x1b 1%, 10.0 ml a day, empty 2026-01-04T00:00:00Z"),
            "{lines:?}"
        );
        assert!(has("TIME") && has("2026-01-01T00:00:00Z  Idle") && has("2026-01-03T00:00:00Z  Printing"), "{lines:?}");
        let json: Value = serde_json::from_str(&shown(&all, 2 * DAY + 60, true).await[0]).unwrap();
        assert_eq!(json["forecast"][0]["empties_at"], at(3 * DAY).precise());
        assert_eq!((&json["is_silent"], &json["changes"][1]["status"]), (&json!(false), &json!("Printing")));
    }

    #[tokio::test]
    async fn the_status_of_a_silent_device_is_past_and_one_may_never_have_come() {
        // Decision I3.
        let silent = shown(&[status(0, Status::Printing, 30.0)], 3_600, false).await;
        assert!(silent.iter().any(|line| line.ends_with("silent for 1h; it was Printing")), "{silent:?}");
        let never = shown(&[], 0, false).await;
        assert!(never.last().unwrap().ends_with("never seen"), "{never:?}");
    }

    #[tokio::test]
    async fn only_the_last_changes_are_shown() {
        let word = |number: i64| if number % 2 == 0 { Status::Idle } else { Status::Printing };
        let all: Vec<_> = (0..50).map(|number| status(number * 60, word(number), 10.0)).collect();
        let json: Value = serde_json::from_str(&shown(&all, 3_000, true).await[0]).unwrap();
        let changes = json["changes"].as_array().unwrap();
        assert_eq!(changes.len(), MAX_CHANGES);
        assert_eq!((&changes[0]["at"], &changes[19]["at"]), (&json!(at(1_800).precise()), &json!(at(2_940).precise())));
    }
}
