//! `platen logs`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::lookup::{Kind, Organizations, Records};
use super::output::{self, Out, is_stdout_open};
use super::query::{self, Limit, QueryOptions, TimeRange};
use super::table::{Cell, Column};
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use clap::Args;
use domain::guid::ComputerGuid;
use domain::inspection::{InspectedLogEntry, InspectionRepository, LogFollower};
use domain::log_entry::{LogFilter, LogType, Pattern};
use domain::text::{Folded, storable};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::process::ExitCode;

/// The text filters match whole values without case; `*` stands for any run of characters (decision L5).
#[derive(Debug, Args)]
pub(super) struct LogsArguments {
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    period: TimeRange,
    #[command(flatten)]
    limit: Limit,
    /// Only entries whose description contains this text, without case
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Show the entries that are received from now on, until it is interrupted
    #[arg(long, conflicts_with_all = ["from", "to", "since", "limit"])]
    follow: bool,
}

#[derive(Debug, Args)]
struct Filters {
    /// Only of this SerialNumber header; * stands for any characters, here and in the following
    #[arg(long, alias = "serial", value_name = "TEXT")]
    serial_number: Option<String>,
    /// Only of this user
    #[arg(long, value_name = "TEXT")]
    user: Option<String>,
    /// Only of this source: a device, queue or job
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Only of this device, by its name or GUID, or the beginning of its GUID
    #[arg(long, value_name = "NAME|GUID", conflicts_with = "source")]
    device: Option<String>,
    /// Only of this version (the filter Version of the interface)
    #[arg(long, value_name = "TEXT")]
    entry_version: Option<String>,
    /// Only of this computer, by its name or GUID, or the beginning of its GUID: what it sent under former names too. Another
    /// text is compared with the name that the computer had
    #[arg(long, value_name = "NAME|GUID")]
    computer: Option<String>,
    /// Only of this type: Log or Configuration
    #[arg(long, value_name = "TYPE", value_parser = log_type)]
    log_type: Option<LogType>,
}

fn log_type(text: &str) -> Result<LogType, String> {
    LogType::parse(text).ok_or_else(|| "allowed is Log or Configuration".to_owned())
}

impl LogsArguments {
    fn filter(&self) -> LogFilter {
        // An empty text is no filter (decision L7).
        let pattern = |text: &Option<String>| {
            text.as_deref().filter(|text| !text.is_empty()).map(|text| Pattern::new(&storable(text)))
        };
        let Filters { serial_number, user, source, device: _, entry_version, computer, log_type } = &self.filters;
        let (from, to) = self.period.bounds();
        LogFilter {
            serial_number: pattern(serial_number),
            user: pattern(user),
            source: pattern(source),
            version: pattern(entry_version),
            computer: pattern(computer),
            computer_guid: None,
            from,
            to,
            log_type: *log_type,
            search: self.search.as_deref().map(Folded::of),
        }
    }
}

pub(super) async fn run(config: &Config, asked: LogsArguments) -> Result<ExitCode, Failure> {
    query::run(config, async |database, out| {
        let inspection = database.inspection();
        let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
        let mut filter = asked.filter();
        let fleet = wiring::fleet_service(database);
        if let Some(computer) = &asked.filters.computer {
            let computers = Records::read(&fleet, &organizations, Kind::Computer).await?;
            let registered = computers.find(computer)?.map(|found| found.guid.into());
            filter.computer_guid = registered.or_else(|| ComputerGuid::parse(computer));
            filter.computer.take_if(|_| filter.computer_guid.is_some());
        }
        if let Some(device) = &asked.filters.device {
            let devices = Records::read(&fleet, &organizations, Kind::Device).await?;
            filter.source = Some(Pattern::new(&storable(&devices.named(device)?.name)));
        }
        if asked.follow {
            let follower = inspection.follow_log(organizations.only().map(|only| only.id), filter, None).await?;
            let following = Following { inspection: &inspection, follower, organizations };
            return following.write(Listing::endless(asked.options.json), out, is_stdout_open).await;
        }
        let entries = inspection.log_entries(organizations.ids(), filter).map_err(anyhow::Error::from);
        let records = entries.take(asked.limit.get()).map_ok(|entry| LogRecord::new(&organizations, entry));
        Listing::new(COLUMNS, out, asked.options.json).write(records, "no log entries found", out).await
    })
    .await
}

/// The entries from now on.
struct Following<'a> {
    inspection: &'a dyn InspectionRepository,
    follower: Box<dyn LogFollower>,
    organizations: Organizations,
}

impl Following<'_> {
    async fn write(mut self, listing: Listing, out: &mut Out<'_>, is_open: fn() -> bool) -> Result<()> {
        output::notice("waiting for entries; Ctrl-C ends");
        listing.follow(async || self.next().await, out, is_open).await
    }

    async fn next(&mut self) -> Result<Option<Vec<LogRecord>>> {
        let entries = self.follower.next().await?;
        if entries.iter().any(|entry| !self.organizations.contains(entry.organization)) {
            self.organizations = Organizations::read(self.inspection, None).await?;
        }
        let is_new = !entries.is_empty();
        Ok(is_new.then(|| entries.into_iter().map(|entry| LogRecord::new(&self.organizations, entry)).collect()))
    }
}

/// A log entry and the name of its organization.
struct LogRecord {
    organization: String,
    entry: InspectedLogEntry,
}

impl LogRecord {
    fn new(organizations: &Organizations, entry: InspectedLogEntry) -> Self {
        Self { organization: organizations.name(entry.organization).to_owned(), entry }
    }
}

const COLUMNS: [Column; 8] = [
    Column::whole("RECEIVED"),
    Column::text("ORGANIZATION"),
    Column::optional("TYPE"),
    Column::text("USER"),
    Column::text("SOURCE"),
    Column::optional("VERSION"),
    Column::text("COMPUTER"),
    Column::wide("DESCRIPTION"),
];

impl Record for LogRecord {
    fn cells(&self) -> Vec<Cell> {
        let InspectedLogEntry { received, log_type, entry, .. } = &self.entry;
        let texts = [
            &received.to_string(),
            &self.organization,
            log_type.as_str(),
            &entry.user,
            &entry.source,
            &entry.version,
            &entry.computer,
            &entry.description,
        ];
        texts.into_iter().map(Cell::new).collect()
    }

    fn json(&self) -> Value {
        let InspectedLogEntry { received, log_type, serial_number, entry, .. } = &self.entry;
        json!({
            "received": received.precise(),
            "organization": self.organization,
            "type": log_type.as_str(),
            "user": entry.user,
            "source": entry.source,
            "version": entry.version,
            "computer": entry.computer,
            "description": entry.description,
            "serial_number": serial_number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::OutputClosed;
    use crate::cli::table::Screen;
    use domain::caller::OrganizationId;
    use domain::inspection::{MockInspectionRepository, MockLogFollower, RegisteredOrganization};
    use domain::log_entry::{ListedLogEntry, LogNumber};
    use domain::testing::at;
    use futures_util::stream;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn entry(organization: i64, description: &str) -> InspectedLogEntry {
        InspectedLogEntry {
            number: LogNumber(1),
            organization: OrganizationId(organization),
            received: at(0),
            log_type: LogType::Log,
            serial_number: "SN-1000".to_owned(),
            computer: ComputerGuid::from(domain::testing::numbered(1)),
            entry: ListedLogEntry {
                user: "Ann".to_owned(),
                source: "Latex 1".to_owned(),
                version: "1.2.3".to_owned(),
                computer: "RIP-01".to_owned(),
                description: description.to_owned(),
            },
        }
    }

    fn asked(line: &str) -> LogsArguments {
        asked_of(&line.split_ascii_whitespace().collect::<Vec<_>>())
    }

    fn asked_of(arguments: &[&str]) -> LogsArguments {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            arguments: LogsArguments,
        }
        let Only { arguments } = clap::Parser::try_parse_from(arguments).unwrap();
        arguments
    }

    #[test]
    fn filters_are_those_of_the_interface() {
        let pattern = |text: &str| Some(Pattern::new(text));
        let all = "logs --serial-number SN* --user ann --source latex* --entry-version 1.* --computer rip-01 \
                   --search JAM --log-type LOG --from 2026-05-04T07:00:00Z --to 2026-05-05T07:00:00Z";
        let expected = LogFilter {
            serial_number: pattern("sn*"),
            user: pattern("Ann"),
            source: pattern("Latex*"),
            version: pattern("1.*"),
            computer: pattern("RIP-01"),
            computer_guid: None,
            from: domain::timestamp::Timestamp::parse("2026-05-04T07:00:00Z"),
            to: domain::timestamp::Timestamp::parse("2026-05-05T07:00:00Z"),
            log_type: Some(LogType::Log),
            search: Some(Folded::of("Jam")),
        };
        assert_eq!(asked(all).filter(), expected);
        assert_eq!(
            asked_of(&["logs", "--user", ""]).filter(),
            LogFilter::default(),
            "an empty text is no filter (decision L7)"
        );
        assert!(asked("logs --since 1h").filter().from.is_some());
    }

    #[tokio::test]
    async fn on_a_narrow_terminal_the_description_is_wrapped_and_whole() {
        let mut answer = Vec::new();
        let mut out = Out::new(&mut answer, Screen { width: Some(80), colors: false });
        let long = "words and words ".repeat(20);
        let record = LogRecord { organization: "Acme Print".to_owned(), entry: entry(1, long.trim()) };
        let records = stream::iter([Ok(record)]);
        Listing::new(COLUMNS, &out, false).write(records, "", &mut out).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let lines: Vec<&str> = answer.lines().collect();
        assert!(lines[1].contains("RIP-01") && lines[1].contains("Latex 1"), "{answer}");
        let words = answer.split_whitespace().filter(|word| ["words", "and"].contains(word));
        assert_eq!(words.collect::<Vec<_>>().join(" "), long.trim());
        assert!(lines.iter().all(|line| line.len() <= 80), "{answer}");
    }

    static READS: AtomicU32 = AtomicU32::new(0);

    #[tokio::test(start_paused = true)]
    async fn a_follower_ends_when_stdout_is_closed_and_names_new_organizations() {
        let mut inspection = MockInspectionRepository::new();
        let mut asked_before = false;
        inspection.expect_organizations().returning_st(move |_| {
            let organization =
                |id, name: &str| RegisteredOrganization { id: OrganizationId(id), name: name.to_owned() };
            let mut all = vec![organization(1, "Acme Print")];
            if std::mem::replace(&mut asked_before, true) {
                all.push(organization(2, "New"));
            }
            Ok(all)
        });
        let follower = {
            let mut rounds = vec![vec![entry(2, "two\nlines")], vec![entry(1, "one")]];
            let mut follower = MockLogFollower::new();
            follower.expect_next().returning(move || Ok(rounds.pop().unwrap_or_default()));
            Box::new(follower)
        };
        let organizations = Organizations::read(&inspection, None).await.unwrap();
        let following = Following { inspection: &inspection, follower, organizations };
        let mut answer = Vec::new();
        let is_open = || READS.fetch_add(1, Ordering::Relaxed) < 4;
        let ended = following.write(Listing::endless(false), &mut Out::new(&mut answer, Screen::PIPE), is_open).await;
        assert!(ended.unwrap_err().is::<OutputClosed>());
        let answer = String::from_utf8(answer).unwrap();
        let lines: Vec<&str> = answer.lines().collect();
        assert_eq!(lines.len(), 2, "{answer}");
        assert!(lines[0].contains("Acme Print  log") && lines[0].ends_with("  one"), "{answer}");
        assert!(lines[1].contains("New  log") && lines[1].ends_with("two\\nlines"), "{answer}");
    }
}
