//! `platen devices`, `devices show` and `devices history`

mod history;
mod show;

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::lookup::{Kind, NamedRecord, Organizations, Records};
use super::output::Out;
use super::query::{self, Limit, QueryOptions};
use super::table::{Cell, Color, Column};
use super::timeline::{self, Timeline};
use super::values::{self, age, age_in_seconds};
use crate::config::Config;
use crate::wiring;
use adapters_db::Database;
use anyhow::Result;
use clap::{Args, Subcommand};
use domain::device_status::{ConnectionState, QueueLength, RemainingInk, Reporting, Status};
use domain::guid::DeviceGuid;
use domain::inspection::{InspectedDevice, InspectionRepository};
use domain::timestamp::Timestamp;
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::future::ready;
use std::process::ExitCode;
use std::time::Duration;

/// Characters of the bar of a full ink.
const BAR: usize = 10;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct DevicesArguments {
    #[command(subcommand)]
    command: Option<DevicesCommand>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum DevicesCommand {
    /// Show a device: its status, when its inks will be empty, and its last changes
    Show(show::Show),
    /// List the changes of a device, or samples of its measured values, oldest first
    History(history::History),
    /// List the events of a device: log entries and changes of its state, newest first
    Timeline(Timeline),
}

#[derive(Debug, Default, Args)]
struct List {
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    /// Only devices whose last status is this one: Error, Idle, Offline, Printing, Aborting, Sleeping or Calibrating;
    /// several are joined by commas
    #[arg(long, value_name = "STATUS", value_parser = status, value_delimiter = ',')]
    status: Vec<Status>,
    /// Only this device, by its name or GUID, or the beginning of its GUID
    #[arg(long, value_name = "NAME|GUID")]
    device: Option<String>,
    /// Only devices whose last status is older than this, such as 1h, or that have never sent one
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    older_than: Option<Duration>,
}

fn status(text: &str) -> Result<Status, String> {
    let words = || Status::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>().join(", ");
    Status::parse(text).ok_or_else(|| format!("allowed is {}", words()))
}

pub(super) async fn run(config: &Config, asked: DevicesArguments) -> Result<ExitCode, Failure> {
    let view = View { now: wiring::clock().now(), silent_after: config.insight.silent_after, on_terminal: false };
    query::run(config, async |database, out| {
        let inspection = database.inspection();
        let view = View { on_terminal: out.screen().width.is_some(), ..view };
        match &asked.command {
            Some(DevicesCommand::Show(asked)) => return show::run(database, asked, view, out).await,
            Some(DevicesCommand::History(asked)) => return history::run(database, asked, view.now, out).await,
            Some(DevicesCommand::Timeline(asked)) => {
                return timeline::run(database, timeline::Of::Device, asked, out).await;
            }
            None => {}
        }
        let asked = &asked.list;
        let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
        let device = match &asked.device {
            Some(text) => Some(find(database, &organizations, text).await?.guid.into()),
            None => None,
        };
        list(&inspection, &organizations, device, asked, view, out).await
    })
    .await
}

/// The device that an operator names.
async fn find(database: &Database, organizations: &Organizations, text: &str) -> Result<NamedRecord> {
    let devices = Records::read(&wiring::fleet_service(database), organizations, Kind::Device).await?;
    devices.named(text).cloned()
}

/// Settings for showing devices.
#[derive(Debug, Clone, Copy)]
struct View {
    now: Timestamp,
    /// A device without a status for this long is silent (decision I3).
    silent_after: Duration,
    /// Whether inks are shown as bars.
    on_terminal: bool,
}

async fn list(
    inspection: &dyn InspectionRepository,
    organizations: &Organizations,
    only: Option<DeviceGuid>,
    asked: &List,
    view: View,
    out: &mut Out<'_>,
) -> Result<()> {
    let is_wanted = |device: &InspectedDevice| {
        only.is_none_or(|only| only == device.guid)
            && asked.older_than.is_none_or(|age| is_older(device, age, view.now))
    };
    let devices = stream::iter(organizations.iter()).flat_map(|organization| {
        let devices = inspection.devices(organization.id, asked.status.clone()).map_err(anyhow::Error::from);
        devices.map_ok(|device| DeviceRecord { organization: organization.name.clone(), device, view })
    });
    let wanted = devices.try_filter(|record| ready(is_wanted(&record.device))).take(asked.limit.get());
    Listing::new(COLUMNS, out, asked.options.json).write(wanted, "no devices found", out).await
}

/// Whether the last status of a device is older than `age`; one that never sent a status is.
fn is_older(device: &InspectedDevice, age: Duration, now: Timestamp) -> bool {
    device.status.as_ref().is_none_or(|status| status.received < now.minus(age))
}

/// A device with its last status.
struct DeviceRecord {
    organization: String,
    device: InspectedDevice,
    view: View,
}

impl DeviceRecord {
    fn reporting(&self) -> Reporting {
        let last = self.device.status.as_ref().map(|status| status.received);
        Reporting::of(last, self.view.now, self.view.silent_after)
    }
}

const COLUMNS: [Column; 9] = [
    Column::text("ORGANIZATION"),
    Column::text("DEVICE"),
    Column::text("STATUS"),
    Column::whole("AGE"),
    Column::optional("CONNECTION"),
    Column::optional("TEMPERATURE"),
    Column::optional("QUEUE"),
    Column::wide("MESSAGE"),
    Column::text("INKS"),
];

impl Record for DeviceRecord {
    fn cells(&self) -> Vec<Cell> {
        let Self { organization, device, view } = self;
        let Some(status) = &device.status else {
            let unknown = ["-"; 5].map(Cell::new);
            let known = [organization, &device.name].map(Cell::new);
            return known.into_iter().chain(unknown).chain([Cell::new(""), Cell::new("")]).collect();
        };
        let or_unknown = |text: Option<String>| Cell::new(text.unwrap_or_else(|| "-".to_owned()));
        let connection = status.connection_state;
        let is_disturbed = connection.is_some_and(|state| state != ConnectionState::Online);
        vec![
            Cell::new(organization),
            Cell::new(&device.name),
            Cell::new(status.status.as_str()).colored(color(status.status)),
            age_cell(status.received, *view),
            or_unknown(connection.map(|state| state.as_str().to_owned()))
                .colored(is_disturbed.then_some(Color::Yellow)),
            or_unknown(status.temperature.map(|degrees| format!("{degrees} °C"))),
            Cell::new(queue(status.queue_length)),
            Cell::new(status.message.as_deref().unwrap_or_default()),
            if view.on_terminal { bars(&status.remaining_inks) } else { Cell::new(shares(&status.remaining_inks)) },
        ]
    }

    fn json(&self) -> Value {
        let Self { organization, device, view } = self;
        let status = device.status.as_ref();
        json!({
            "organization": organization,
            "device": device.guid.to_string(),
            "name": device.name,
            "status": status.map(|status| status.status.as_str()),
            "received": status.map(|status| status.received.precise()),
            "age_seconds": status.map(|status| age_in_seconds(status.received, view.now)),
            "is_silent": self.reporting() == Reporting::Silent,
            "message": status.map(|status| &status.message),
            "temperature": status.map(|status| status.temperature),
            "connection_state": status.map(|status| status.connection_state.map(ConnectionState::as_str)),
            "connection_message": status.map(|status| &status.connection_message),
            "remaining_inks": status.map(|status| inks_json(&status.remaining_inks)),
            "queue_length": status.map(|status| queue_json(status.queue_length)),
        })
    }
}

fn queue(length: QueueLength) -> String {
    match length {
        QueueLength::Length(units) => format!("length {units}"),
        QueueLength::Area(units) => format!("area {units}"),
        QueueLength::Sheets(sheets) => format!("sheets {sheets}"),
    }
}

fn queue_json(length: QueueLength) -> Value {
    match length {
        QueueLength::Length(units) => json!({ "length": units }),
        QueueLength::Area(units) => json!({ "area": units }),
        QueueLength::Sheets(sheets) => json!({ "sheets": sheets }),
    }
}

fn inks_json(inks: &[RemainingInk]) -> Value {
    let ink = |ink: &RemainingInk| json!({ "index": ink.index, "name": ink.name, "level": ink.level, "max_level": ink.max_level });
    inks.iter().map(ink).collect()
}

/// The age of a status, marked for a silent device.
fn age_cell(received: Timestamp, view: View) -> Cell {
    let age = age(received, view.now);
    if Reporting::of(Some(received), view.now, view.silent_after) == Reporting::Silent {
        return Cell::new(format!("{age} (silent)")).colored(Some(Color::Yellow));
    }
    Cell::new(age)
}

fn color(status: Status) -> Option<Color> {
    match status {
        Status::Error => Some(Color::Red),
        Status::Offline | Status::Aborting => Some(Color::Yellow),
        Status::Printing => Some(Color::Green),
        Status::Idle | Status::Sleeping | Status::Calibrating => None,
    }
}

/// The level of an ink, from 0 to 1; `None` where it is unknown.
fn share(ink: &RemainingInk) -> Option<f64> {
    (ink.level >= 0.0 && ink.max_level > 0.0).then(|| (ink.level / ink.max_level).min(1.0))
}

/// `Cyan 53%, Black ?`
fn shares(inks: &[RemainingInk]) -> String {
    let share = |ink: &RemainingInk| match share(ink) {
        Some(share) => format!("{} {:.0}%", ink.name, share * 100.0),
        None => format!("{} ?", ink.name),
    };
    inks.iter().map(share).collect::<Vec<_>>().join(", ")
}

/// A line for each ink; the lowest decides about the color.
fn bars(inks: &[RemainingInk]) -> Cell {
    let line = |ink: &RemainingInk| match share(ink) {
        Some(share) => format!("{} {:>4.0}% {}", bar(share), share * 100.0, ink.name),
        None => format!("{:BAR$}     ? {}", "", ink.name),
    };
    let lowest = inks.iter().filter_map(share).min_by(f64::total_cmp);
    Cell::lines(inks.iter().map(line)).colored(lowest.map(level_color))
}

/// An ink that isn't empty shows at least one block.
fn bar(share: f64) -> String {
    let full = (1..=BAR).filter(|block| is_reached(share, *block)).count().max(usize::from(share > 0.0));
    "█".repeat(full) + &"░".repeat(BAR - full)
}

/// Whether a share reaches the middle of a block.
fn is_reached(share: f64, block: usize) -> bool {
    let [block, all] = [block, BAR].map(|number| u32::try_from(number).map_or(0.0, f64::from));
    share * all >= block - 0.5
}

fn level_color(share: f64) -> Color {
    match share {
        ..0.1 => Color::Red,
        ..0.25 => Color::Yellow,
        _ => Color::Green,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::caller::OrganizationId;
    use domain::device_status::{DeviceStatus, SILENT_AFTER};
    use domain::inspection::{MockInspectionRepository, RegisteredOrganization};
    use domain::testing::{a_status, at, numbered};
    use futures_util::stream::{self, StreamExt};

    fn ink(name: &str, level: f64) -> RemainingInk {
        RemainingInk { index: 1.0, name: name.to_owned(), level, max_level: 800.0 }
    }

    fn printing() -> InspectedDevice {
        let guid = DeviceGuid::from(numbered(1));
        let status = DeviceStatus {
            status: Status::Printing,
            message: Some("Order \x1b[2J17".to_owned()),
            temperature: Some(41.5),
            connection_state: Some(ConnectionState::Unstable),
            remaining_inks: vec![ink("Cyan\x07", 410.0), ink("Black", -1.0), ink("K", 20.0)],
            queue_length: QueueLength::Sheets(12),
            ..a_status(guid)
        };
        InspectedDevice { guid, name: "Latex 1".to_owned(), status: Some(status) }
    }

    fn silent() -> InspectedDevice {
        InspectedDevice { guid: DeviceGuid::from(numbered(2)), name: "Flatbed".to_owned(), status: None }
    }

    fn view(seconds: i64) -> View {
        View { now: at(seconds), silent_after: SILENT_AFTER, on_terminal: false }
    }

    async fn listed(screen: Screen, json: bool) -> Vec<String> {
        let mut inspection = MockInspectionRepository::new();
        inspection.expect_organizations().returning(|_| {
            let organization =
                |id, name: &str| RegisteredOrganization { id: OrganizationId(id), name: name.to_owned() };
            Ok(vec![organization(1, "Acme Print"), organization(2, "Zenith")])
        });
        inspection.expect_devices().returning(|organization, statuses| {
            assert_eq!(statuses, [Status::Printing]);
            let devices = if organization.0 == 1 { vec![printing()] } else { vec![silent()] };
            stream::iter(devices.into_iter().map(Ok)).boxed()
        });
        let options = QueryOptions { organization: None, json };
        let asked = List { options, status: vec![Status::Printing], ..List::default() };
        let organizations = Organizations::read(&inspection, None).await.unwrap();
        let mut answer = Vec::new();
        let view = View { on_terminal: screen.width.is_some(), ..view(150) };
        list(&inspection, &organizations, None, &asked, view, &mut Out::new(&mut answer, screen)).await.unwrap();
        String::from_utf8(answer).unwrap().lines().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn inks_are_bars_on_a_terminal() {
        let screen = Screen { width: Some(140), colors: false };
        let expected = [
            "ORGANIZATION  DEVICE   STATUS    AGE  CONNECTION  TEMPERATURE  QUEUE      MESSAGE          INKS",
            "Acme Print    Latex 1  Printing  2m   Unstable    41.5 °C      sheets 12  Order \\x1b[2J17  █████░░░░░   51% Cyan\\x07",
            "                                                                                                          ? Black",
            "                                                                                           █░░░░░░░░░    2% K",
            "Zenith        Flatbed  -         -    -           -            -",
        ];
        assert_eq!(listed(screen, false).await, expected);
        for room in [60, 70, 80, 119] {
            for line in listed(Screen { width: Some(room), ..screen }, false).await {
                assert!(line.chars().count() <= usize::from(room), "{room}: {line}");
            }
        }
    }

    #[tokio::test]
    async fn inks_are_shares_where_stdout_is_no_terminal() {
        let lines = listed(Screen { width: None, colors: false }, false).await;
        assert_eq!(lines.len(), 3);
        assert!(lines[0].ends_with("  INKS"), "{lines:?}");
        assert!(lines[1].ends_with("  Cyan\\x07 51%, Black ?, K 2%"), "{lines:?}");
    }

    #[tokio::test]
    async fn colors_are_shown_where_they_are_wanted() {
        let lines = listed(Screen { width: Some(140), colors: true }, false).await;
        let [red, yellow, green] = [9, 11, 10].map(|color| format!("\x1b[38;5;{color}m"));
        assert!(lines[1].contains(&format!("{green}Printing")) && lines[1].contains(&format!("{yellow}Unstable")));
        assert!(lines[1].contains(&format!("{red}█")) && lines[3].contains(&format!("{red}█")), "{lines:?}");
    }

    #[tokio::test]
    async fn json_holds_the_whole_status() {
        let lines = listed(Screen { width: None, colors: false }, true).await;
        let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            lines[0],
            json!({
                "organization": "Acme Print", "device": printing().guid.to_string(), "name": "Latex 1",
                "status": "Printing", "received": at(0).precise(), "age_seconds": 150, "is_silent": false,
                "message": "Order \x1b[2J17", "temperature": 41.5, "connection_state": "Unstable",
                "connection_message": null,
                "remaining_inks": [
                    { "index": 1.0, "name": "Cyan\x07", "level": 410.0, "max_level": 800.0 },
                    { "index": 1.0, "name": "Black", "level": -1.0, "max_level": 800.0 },
                    { "index": 1.0, "name": "K", "level": 20.0, "max_level": 800.0 },
                ],
                "queue_length": { "sheets": 12 },
            })
        );
        assert_eq!((&lines[1]["status"], &lines[1]["received"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn an_old_status_is_marked_and_a_device_that_never_sent_one_is_silent() {
        let hour = Duration::from_hours(1);
        assert!(is_older(&printing(), hour, at(4_000)) && !is_older(&printing(), 2 * hour, at(4_000)));
        assert!(is_older(&silent(), hour, at(0)), "a device that never sent one is silent");
        // Decision I3.
        assert_eq!(age_cell(at(0), view(901)).into_text(), "15m (silent)");
        assert_eq!(age_cell(at(0), view(900)).into_text(), "15m");
    }

    #[test]
    fn a_bar_is_as_full_as_its_ink() {
        let full = |share: f64| bar(share).chars().filter(|block| *block == '█').count();
        assert_eq!([0.0, 0.001, 0.5, 0.97, 0.98, 1.0].map(full), [0, 1, 5, 10, 10, 10]);
        assert!([0.0, 0.3, 1.0].iter().all(|share| bar(*share).chars().count() == BAR));
        assert_eq!(share(&ink("over", 900.0)), Some(1.0));
        assert_eq!(share(&RemainingInk { max_level: 0.0, ..ink("no tank", 0.0) }), None);
    }
}
