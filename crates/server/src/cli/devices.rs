//! `platen devices`

use super::failure::Failure;
use super::listing::Listing;
use super::look::{Look, look};
use super::names::Register;
use super::output::Out;
use super::table::{Cell, Color, Column, Screen};
use super::values;
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use clap::Args;
use domain::device_status::{ConnectionState, QueueLength, RemainingInk, Status};
use domain::guid::DeviceGuid;
use domain::inspection::{InspectedDevice, InspectionRepository};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// Characters of the bar of a full ink.
const BAR: usize = 10;

#[derive(Debug, Args)]
pub(super) struct DevicesArguments {
    #[command(flatten)]
    look: Look,
    /// Only devices whose last status is this one: Error, Idle, Offline, Printing, Aborting, Sleeping or Calibrating;
    /// several are joined by commas
    #[arg(long, value_name = "STATUS", value_parser = status, value_delimiter = ',')]
    status: Vec<Status>,
    /// Only this device, by its name or GUID
    #[arg(long, value_name = "NAME|GUID")]
    device: Option<String>,
    /// Only devices whose last status is older than this, such as 1h, or that have never sent one
    #[arg(long, value_name = "DURATION", value_parser = values::since)]
    older_than: Option<Duration>,
}

impl DevicesArguments {
    fn fits(&self, device: &InspectedDevice, now: Timestamp) -> bool {
        let is_named = |text: &String| {
            DeviceGuid::parse(text) == Some(device.guid) || Folded::of(text) == Folded::of(&device.name)
        };
        let received = device.status.as_ref().map(|status| status.received);
        let is_older = |age: &Duration| received.is_none_or(|received| received < now.minus(*age));
        self.device.as_ref().is_none_or(is_named) && self.older_than.as_ref().is_none_or(is_older)
    }
}

/// The age from which a status is marked as old.
const OLD: Duration = Duration::from_hours(1);

fn status(text: &str) -> Result<Status, String> {
    let words = || Status::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>().join(", ");
    Status::parse(text).ok_or_else(|| format!("allowed is {}", words()))
}

pub(super) async fn run(config: &Config, arguments: DevicesArguments) -> Result<ExitCode, Failure> {
    let now = wiring::clock().now();
    look(config, async |database, out| {
        list(&database.inspection(), &arguments, &Shown { now, screen: Screen::of_stdout() }, out).await
    })
    .await
}

/// When and where devices are shown.
struct Shown {
    now: Timestamp,
    screen: Screen,
}

async fn list(
    inspection: &dyn InspectionRepository,
    arguments: &DevicesArguments,
    shown: &Shown,
    out: &mut Out<'_>,
) -> Result<()> {
    let on_terminal = shown.screen.width.is_some();
    let mut listing = Listing::new(COLUMNS, shown.screen, arguments.look.json);
    for organization in Register::read(inspection, arguments.look.organization.as_deref()).await?.organizations() {
        let mut devices = inspection.devices(organization.id, arguments.status.clone());
        while let Some(device) = devices.try_next().await? {
            if !arguments.fits(&device, shown.now) {
                continue;
            }
            let organization = organization.name.as_str();
            listing.record(
                out,
                || json_of(organization, &device, shown.now),
                || cells(organization, &device, shown.now, on_terminal),
            )?;
        }
    }
    listing.end(out, "no devices found")
}

const COLUMNS: [Column; 9] = [
    Column::text("ORGANIZATION"),
    Column::text("DEVICE"),
    Column::text("STATUS"),
    Column::whole("AGE"),
    Column::optional("CONNECTION"),
    Column::optional("TEMPERATURE"),
    Column::optional("QUEUE"),
    Column::text("MESSAGE"),
    Column::text("INKS"),
];

fn cells(organization: &str, device: &InspectedDevice, now: Timestamp, on_terminal: bool) -> Vec<Cell> {
    let inks = device.status.as_ref().map_or(&[][..], |status| &status.remaining_inks);
    let of_status = |show: fn(&domain::device_status::DeviceStatus) -> String| device.status.as_ref().map(show);
    let word = device.status.as_ref().map(|status| status.status);
    let connection = device.status.as_ref().and_then(|status| status.connection_state);
    let cell = |text: Option<String>| Cell::new(text.unwrap_or_else(|| "-".to_owned()));
    vec![
        Cell::new(organization),
        Cell::new(&device.name),
        cell(word.map(|status| status.as_str().to_owned())).colored(word.and_then(color)),
        age_cell(device, now),
        cell(connection.map(|state| state.as_str().to_owned()))
            .colored(connection.filter(|state| *state != ConnectionState::Online).map(|_| Color::Yellow)),
        cell(device.status.as_ref().and_then(|status| status.temperature).map(|degrees| format!("{degrees} °C"))),
        cell(of_status(|status| match status.queue_length {
            QueueLength::Length(units) => format!("length {units}"),
            QueueLength::Area(units) => format!("area {units}"),
            QueueLength::Sheets(sheets) => format!("sheets {sheets}"),
        })),
        Cell::new(device.status.as_ref().and_then(|status| status.message.as_deref()).unwrap_or_default()),
        if on_terminal { bars(inks) } else { Cell::new(shares(inks)) },
    ]
}

/// The age of the last status; an old one is marked.
fn age_cell(device: &InspectedDevice, now: Timestamp) -> Cell {
    match device.status.as_ref().map(|status| status.received) {
        None => Cell::new("-"),
        Some(received) if received < now.minus(OLD) => {
            Cell::new(format!("{} (old)", age(received, now))).colored(Some(Color::Yellow))
        }
        Some(received) => Cell::new(age(received, now)),
    }
}

fn color(status: Status) -> Option<Color> {
    match status {
        Status::Error => Some(Color::Red),
        Status::Offline | Status::Aborting => Some(Color::Yellow),
        Status::Printing => Some(Color::Green),
        Status::Idle | Status::Sleeping | Status::Calibrating => None,
    }
}

/// How long ago a status was received, in its largest whole unit. Clocks differ: it is never from the future.
fn age(received: Timestamp, now: Timestamp) -> String {
    let seconds = age_in_seconds(received, now);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn age_in_seconds(received: Timestamp, now: Timestamp) -> i64 {
    (now.as_micros().saturating_sub(received.as_micros()) / 1_000_000).max(0)
}

/// What of its tank an ink fills, from 0 to 1; `None` where that is unknown.
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

fn json_of(organization: &str, device: &InspectedDevice, now: Timestamp) -> Value {
    let status = device.status.as_ref();
    let ink = |ink: &RemainingInk| json!({ "index": ink.index, "name": ink.name, "level": ink.level, "max_level": ink.max_level });
    let queue_length = |length: QueueLength| match length {
        QueueLength::Length(units) => json!({ "length": units }),
        QueueLength::Area(units) => json!({ "area": units }),
        QueueLength::Sheets(sheets) => json!({ "sheets": sheets }),
    };
    json!({
        "organization": organization,
        "device": device.guid.to_string(),
        "name": device.name,
        "status": status.map(|status| status.status.as_str()),
        "received": status.map(|status| status.received.precise()),
        "age_seconds": status.map(|status| age_in_seconds(status.received, now)),
        "message": status.map(|status| &status.message),
        "temperature": status.map(|status| status.temperature),
        "connection_state": status.map(|status| status.connection_state.map(ConnectionState::as_str)),
        "connection_message": status.map(|status| &status.connection_message),
        "remaining_inks": status.map(|status| status.remaining_inks.iter().map(ink).collect::<Vec<_>>()),
        "queue_length": status.map(|status| queue_length(status.queue_length)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::device_status::DeviceStatus;
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
        let look = Look { organization: None, json };
        let arguments = DevicesArguments { look, status: vec![Status::Printing], device: None, older_than: None };
        let mut answer = Vec::new();
        let shown = Shown { now: at(150), screen };
        list(&inspection, &arguments, &shown, &mut Out::new(&mut answer)).await.unwrap();
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
    async fn inks_are_shares_where_no_terminal_reads() {
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
                "status": "Printing", "received": at(0).precise(), "age_seconds": 150,
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
    fn devices_are_chosen_by_name_guid_and_age_and_an_old_status_is_marked() {
        let fits = |device: Option<&str>, older_than: Option<Duration>, seen: &InspectedDevice| {
            let look = Look { organization: None, json: false };
            let device = device.map(str::to_owned);
            DevicesArguments { look, status: Vec::new(), device, older_than }.fits(seen, at(4_000))
        };
        let (hour, day) = (Some(Duration::from_hours(1)), Some(Duration::from_hours(24)));
        assert!(fits(Some("LATEX 1"), None, &printing()) && !fits(Some("Latex"), None, &printing()));
        assert!(fits(Some(&printing().guid.to_string()), hour, &printing()));
        assert!(!fits(None, day, &printing()) && fits(None, day, &silent()), "a device that never sent one is silent");
        assert_eq!(age_cell(&printing(), at(4_000)).into_text(), "1h (old)");
        assert_eq!(age_cell(&printing(), at(60)).into_text(), "1m");
    }

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        let ages =
            [(0, "0s"), (59, "59s"), (60, "1m"), (3_599, "59m"), (3_600, "1h"), (86_399, "23h"), (864_000, "10d")];
        for (seconds, told) in ages {
            assert_eq!(age(at(0), at(seconds)), told);
        }
        assert_eq!(age(at(5), at(0)), "0s", "clocks differ");
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
