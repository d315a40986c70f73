//! `platen computers`, `computers show` and `computers timeline`

use super::failure::Failure;
use super::listing::{Listing, Record, json_line};
use super::lookup::{Kind, Organizations, Records};
use super::output::Out;
use super::query::{self, Limit, QueryOptions};
use super::table::{Cell, Column};
use super::timeline::{self, Timeline};
use super::values::{self, age, age_in_seconds};
use crate::config::Config;
use crate::wiring;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use domain::activity::{ActivityRepository, OutdatedResource};
use domain::inspection::{InspectedComputer, InspectionRepository, LastSeen};
use domain::refusal::{NewRefusal, RefusalFilter, RefusalRepository};
use domain::timestamp::Timestamp;
use futures_util::stream::{self, Stream};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::future::ready;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

/// A computer was last seen at its last admitted request. Where an earlier version stored no requests, the newest log
/// entry or crash report counts instead. Log entries count if the computer sent them under its present name.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ComputersArguments {
    #[command(subcommand)]
    command: Option<ComputersCommand>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum ComputersCommand {
    /// Show a computer with its last request, log entry, crash report and refusal, and its outdated resources
    Show(Show),
    /// List the events of a computer: log entries, crash reports, refusals and fetches, newest first
    Timeline(Timeline),
}

#[derive(Debug, Default, Args)]
struct List {
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    /// Only computers that sent nothing for this long, such as 7d, or never
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    older_than: Option<Duration>,
}

#[derive(Debug, Args)]
struct Show {
    /// The computer, by its name or GUID, or the beginning of its GUID
    #[arg(value_name = "NAME|GUID")]
    computer: String,
    #[command(flatten)]
    options: QueryOptions,
}

pub(super) async fn run(config: &Config, asked: ComputersArguments) -> Result<ExitCode, Failure> {
    let now = wiring::clock().now();
    query::run(config, async |database, out| {
        let inspection = database.inspection();
        let asked = match asked.command {
            Some(ComputersCommand::Show(asked)) => asked,
            Some(ComputersCommand::Timeline(asked)) => {
                return timeline::run(database, timeline::Of::Computer, &asked, out).await;
            }
            None => return list(&inspection, &asked.list, now, out).await,
        };
        let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
        let computers = Records::read(&wiring::fleet_service(database), &organizations, Kind::Computer).await?;
        let named = computers.named(&asked.computer)?;
        let (guid, organization) = (named.guid.into(), named.organization.clone());
        let mut found = pin!(all(&inspection, &organizations, now).try_filter(|it| ready(it.computer.guid == guid)));
        let found = found.try_next().await?.context("the computer was removed meanwhile")?;
        let filter = RefusalFilter { computer: Some(guid), ..RefusalFilter::default() };
        let refused = database.refusals().page(&filter, None, 1).await?.pop().map(|refused| refused.refusal);
        let organization = inspection.organizations(Some(organization)).await?.pop();
        let organization = organization.context("the organization was removed meanwhile")?;
        let outdated = database.activity().outdated_resources(organization.id, guid).take(MAX_OUTDATED);
        let details = ComputerDetails { refused, outdated: outdated.try_collect().await? };
        found.show(&details, asked.options.json, out)
    })
    .await
}

async fn list(inspection: &dyn InspectionRepository, asked: &List, now: Timestamp, out: &mut Out<'_>) -> Result<()> {
    let organizations = Organizations::read(inspection, asked.options.organization.as_deref()).await?;
    let is_wanted = |computer: &InspectedComputer| {
        let is_older = |age| computer.last_seen().is_none_or(|seen| seen.at < now.minus(age));
        asked.older_than.is_none_or(is_older)
    };
    let all = all(inspection, &organizations, now).try_filter(|record| ready(is_wanted(&record.computer)));
    let listing = Listing::new(COLUMNS, out, asked.options.json);
    listing.write(all.take(asked.limit.get()), "no computers found", out).await
}

/// The computers by organization and name.
fn all<'a>(
    inspection: &'a dyn InspectionRepository,
    organizations: &'a Organizations,
    now: Timestamp,
) -> impl Stream<Item = Result<ComputerRecord>> + 'a {
    stream::iter(organizations.iter()).flat_map(move |organization| {
        let computers = inspection.computers(organization.id).map_err(anyhow::Error::from);
        computers.map_ok(move |computer| ComputerRecord { organization: organization.name.clone(), computer, now })
    })
}

/// A computer and the name of its organization.
struct ComputerRecord {
    organization: String,
    computer: InspectedComputer,
    now: Timestamp,
}

const COLUMNS: [Column; 7] = [
    Column::optional("ORGANIZATION"),
    Column::text("COMPUTER"),
    Column::text("USER"),
    Column::whole("LAST SEEN"),
    Column::text("VERSION"),
    Column::optional("SERIAL"),
    Column::whole("GUID"),
];

impl Record for ComputerRecord {
    fn cells(&self) -> Vec<Cell> {
        let Self { organization, computer, now } = self;
        let seen = computer.last_seen();
        vec![
            Cell::new(organization),
            Cell::named(&computer.name, computer.is_retired),
            Cell::new(computer.user.as_deref().unwrap_or_default()),
            Cell::new(seen.as_ref().map_or_else(|| "-".to_owned(), |seen| age(seen.at, *now))),
            Cell::new(seen.as_ref().map_or("-", |seen| &seen.application_version)),
            Cell::new(computer.serial_number.as_deref().unwrap_or_default()),
            Cell::new(computer.guid.to_string()),
        ]
    }

    fn json(&self) -> Value {
        let Self { organization, computer, now } = self;
        let time = |seen: &Option<LastSeen>| seen.as_ref().map(|seen| seen.at.precise());
        let seen = computer.last_seen();
        json!({
            "organization": organization,
            "computer": computer.guid.to_string(),
            "name": computer.name,
            "removed": computer.is_retired,
            "user": computer.user,
            "serial_number": computer.serial_number,
            "last_seen": seen.as_ref().map(|seen| seen.at.precise()),
            "age_seconds": seen.as_ref().map(|seen| age_in_seconds(seen.at, *now)),
            "application_version": seen.as_ref().map(|seen| &seen.application_version),
            "address": computer.last_request.as_ref().and_then(|request| request.address.as_deref()),
            "last_request": computer.last_request.as_ref().map(|request| request.at.precise()),
            "last_log_entry": time(&computer.last_log_entry),
            "last_crash_report": time(&computer.last_crash_report),
        })
    }
}

impl ComputerRecord {
    /// Shows one computer.
    fn show(&self, details: &ComputerDetails, as_json: bool, out: &mut Out<'_>) -> Result<()> {
        let refused = details.refused.as_ref();
        let Self { organization, computer, now } = self;
        if as_json {
            let mut json = self.json();
            json["last_refusal"] = refused.map_or(
                Value::Null,
                |refusal| json!({ "time": refusal.at.precise(), "reason": refusal.reason, "detail": refusal.detail }),
            );
            json["outdated_resources"] = details.outdated.iter().map(outdated_json).collect();
            return json_line(out, &json);
        }
        let time = |at: Timestamp| format!("{at} ({} ago)", age(at, *now));
        let last = |seen: Option<&LastSeen>| seen.map_or_else(|| "-".to_owned(), |seen| time(seen.at));
        let request = computer.last_request.as_ref();
        let mut facts = vec![
            ("Computer", computer.name.clone()),
            ("ComputerGUID", computer.guid.to_string()),
            ("Organization", organization.clone()),
            ("User", computer.user.clone().unwrap_or_default()),
            ("SerialNumber", computer.serial_number.clone().unwrap_or_default()),
            ("Removed", if computer.is_retired { "yes".to_owned() } else { String::new() }),
            ("Last seen", last(computer.last_seen().as_ref())),
            ("Address", request.and_then(|request| request.address.clone()).unwrap_or_default()),
            ("Sent SerialNumber", request.map(|request| request.serial_number.clone()).unwrap_or_default()),
            ("Version", computer.last_seen().map(|seen| seen.application_version).unwrap_or_default()),
            ("Last log entry", last(computer.last_log_entry.as_ref())),
            ("Last crash report", last(computer.last_crash_report.as_ref())),
            (
                "Last refusal",
                refused.map_or_else(
                    || "-".to_owned(),
                    |refusal| format!("{}: {} {}", time(refusal.at), refusal.reason, refusal.detail),
                ),
            ),
        ];
        for outdated in &details.outdated {
            let shown = format!("{} {}, fetched {}", outdated.name, outdated.resource.guid, time(outdated.fetch.at));
            facts.push(("Outdated resource", shown));
        }
        values::facts(out, &facts)
    }
}

/// Limit for the outdated resources that are shown.
const MAX_OUTDATED: usize = 100;

/// Values that only `computers show` shows.
struct ComputerDetails {
    /// The last refusal.
    refused: Option<NewRefusal>,
    outdated: Vec<OutdatedResource>,
}

fn outdated_json(outdated: &OutdatedResource) -> Value {
    json!({
        "resource": outdated.resource.guid.to_string(),
        "name": outdated.name,
        "fetched": outdated.fetch.at.precise(),
        "fetched_checksum": outdated.fetch.checksum.to_string(),
        "checksum": outdated.checksum.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::fleet::{FleetRecord, FleetRegistry, RecordRegistry};
    use domain::log_entry::{LogRepository, NewLogEntry};
    use domain::testing::{ACME, InMemoryStore, a_fleet, a_log_entry, acme_records, at};

    async fn listed(store: &InMemoryStore, asked: &List, screen: Screen) -> Vec<String> {
        let mut answer = Vec::new();
        list(store, asked, at(4_000), &mut Out::new(&mut answer, screen)).await.unwrap();
        String::from_utf8(answer).unwrap().lines().map(str::to_owned).collect()
    }

    /// RIP-01 of Acme Print sent an entry; RIP-02 of Zenith Media nothing.
    async fn store() -> InMemoryStore {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let acme = Organizations::read(&store, Some(ACME)).await.unwrap().ids()[0];
        let entry = NewLogEntry {
            computer_guid: acme_records().computer,
            application_version: "9.\u{1b}2".to_owned(),
            ..a_log_entry("entry")
        };
        LogRepository::add(&store, acme, entry).await.unwrap();
        store
    }

    #[tokio::test]
    async fn computers_are_listed_with_user_last_seen_and_version() {
        let store = store().await;
        let lines = listed(&store, &List::default(), Screen::PIPE).await;
        let words = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let guid = acme_records().computer.to_string();
        assert_eq!(words(&lines[1]), ["Acme", "Print", "RIP-01", "Ann", "1h", "9.\\x1b2", "SN-1000", &guid]);
        assert_eq!(words(&lines[2])[2..5], ["RIP-02", "-", "-"], "{lines:?}");
        let narrow = listed(&store, &List::default(), Screen { width: Some(80), colors: false }).await;
        assert!(narrow[1].ends_with(&guid) && !narrow[0].contains("SERIAL"), "{narrow:?}");
        store.set_retired(ACME, &FleetRecord::Computer(acme_records().computer), Some(at(9))).await.unwrap();
        let lines = listed(&store, &List::default(), Screen::PIPE).await;
        assert!(lines[1].contains("  RIP-01 (removed)  ") && !lines[2].contains("removed"), "{lines:?}");
        let older_than = |hours| List { older_than: Some(Duration::from_hours(hours)), ..List::default() };
        assert_eq!(listed(&store, &older_than(1), Screen::PIPE).await.len(), 3);
        let silent = listed(&store, &older_than(2), Screen::PIPE).await;
        assert!(silent.len() == 2 && silent[1].contains("RIP-02"), "{silent:?}");
    }
}
