//! `platen logs`

use super::failure::Failure;
use super::listing::Listing;
use super::look::{Look, Period, look};
use super::names::{Computers, Register};
use super::output::{self, Out, ReaderGone, is_stdout_read};
use super::table::{Cell, Column, Screen};
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use clap::Args;
use domain::guid::ComputerGuid;
use domain::inspection::{InspectedLogEntry, InspectionRepository, LogFollower};
use domain::log_entry::{LogFilter, LogType, Pattern};
use domain::text::{Folded, storable};
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

/// Pause after which a follower looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// The text filters match whole values without case; `*` stands for any run of characters (decision L5).
#[derive(Debug, Args)]
pub(super) struct LogsArguments {
    #[command(flatten)]
    look: Look,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    period: Period,
    /// Only entries whose description contains this text, without case
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only this many, the newest
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Show the entries that are received from now on, until it is interrupted
    #[arg(long, conflicts_with_all = ["from", "to", "since", "limit"])]
    follow: bool,
}

#[derive(Debug, Args)]
struct Filters {
    /// Only of this SerialNumber header; * stands for any characters, here and in the following
    #[arg(long, value_name = "TEXT")]
    serial_number: Option<String>,
    /// Only of this user
    #[arg(long, value_name = "TEXT")]
    user: Option<String>,
    /// Only of this source: a device, queue or job
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Only of this version (the filter Version of the interface)
    #[arg(long, value_name = "TEXT")]
    entry_version: Option<String>,
    /// Only of this computer, by its name or GUID
    #[arg(long, value_name = "TEXT")]
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
        let Filters { serial_number, user, source, entry_version, computer, log_type } = &self.filters;
        let (from, to) = self.period.bounds();
        LogFilter {
            serial_number: pattern(serial_number),
            user: pattern(user),
            source: pattern(source),
            version: pattern(entry_version),
            computer: pattern(computer),
            from,
            to,
            log_type: *log_type,
        }
    }
}

pub(super) async fn run(config: &Config, asked: LogsArguments) -> Result<ExitCode, Failure> {
    look(config, async |database, out| {
        let inspection = database.inspection();
        let register = Register::read(&inspection, asked.look.organization.as_deref()).await?;
        let mut filter = asked.filter();
        if let Some(guid) = asked.filters.computer.as_deref().and_then(ComputerGuid::parse) {
            // Entries have the name of their computer, not its GUID.
            let computers = Computers::read(&wiring::fleet_service(database), &register).await?;
            let name = computers.of_guid(guid).map_or_else(|| guid.to_string(), |computer| computer.name.clone());
            filter.computer = Some(Pattern::new(&storable(&name)));
        }
        let search = asked.search.as_deref().map(Folded::of);
        if asked.follow {
            let only = asked.look.organization.is_some().then(|| register.ids().into_iter().next()).flatten();
            let follower = inspection.follow_log(only, filter).await?;
            let shown = Shown { register, search, listing: Listing::endless(asked.look.json) };
            return follow(&inspection, follower, shown, out, is_stdout_read).await;
        }
        let listing = Listing::new(COLUMNS, Screen::of_stdout(), asked.look.json);
        let shown = Shown { register, search, listing };
        list(&inspection, filter, asked.limit, shown, out).await
    })
    .await
}

/// Lists the newest entries, `limit` at most.
async fn list(
    inspection: &dyn InspectionRepository,
    filter: LogFilter,
    limit: Option<usize>,
    mut shown: Shown,
    out: &mut Out<'_>,
) -> Result<()> {
    let mut entries = inspection.log_entries(shown.register.ids(), filter);
    let mut left = limit.unwrap_or(usize::MAX);
    while left > 0
        && let Some(entry) = entries.try_next().await?
    {
        left -= usize::from(shown.entry(&entry, out)?);
    }
    shown.listing.end(out, "no log entries found")
}

/// Goes on until it fails, is interrupted, or stdout is no longer read.
async fn follow(
    inspection: &dyn InspectionRepository,
    mut follower: Box<dyn LogFollower>,
    mut shown: Shown,
    out: &mut Out<'_>,
    is_read: fn() -> bool,
) -> Result<()> {
    output::notice("waiting for entries; Ctrl-C ends");
    while is_read() {
        let entries = follower.next().await?;
        if entries.iter().any(|entry| !shown.register.knows(entry.organization)) {
            shown.register = Register::read(inspection, None).await?;
        }
        for entry in &entries {
            shown.entry(entry, out)?;
        }
        if entries.is_empty() {
            out.flush()?;
            sleep(PAUSE).await;
        }
    }
    Err(ReaderGone.into())
}

/// How entries are shown.
struct Shown {
    register: Register,
    /// Only entries whose description contains this text.
    search: Option<Folded>,
    listing: Listing,
}

impl Shown {
    /// Shows an entry; false if it isn't searched for.
    fn entry(&mut self, entry: &InspectedLogEntry, out: &mut Out<'_>) -> Result<bool> {
        let is_wanted = |search: &Folded| Folded::of(&entry.entry.description).as_str().contains(search.as_str());
        if !self.search.as_ref().is_none_or(is_wanted) {
            return Ok(false);
        }
        let organization = self.register.name(entry.organization);
        self.listing.record(out, || json_of(organization, entry), || cells(organization, entry))?;
        Ok(true)
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
    Column::text("DESCRIPTION"),
];

fn cells(organization: &str, entry: &InspectedLogEntry) -> Vec<Cell> {
    let shown = &entry.entry;
    let texts = [
        &entry.received.to_string(),
        organization,
        entry.log_type.as_str(),
        &shown.user,
        &shown.source,
        &shown.version,
        &shown.computer,
        &shown.description,
    ];
    texts.into_iter().map(Cell::new).collect()
}

fn json_of(organization: &str, entry: &InspectedLogEntry) -> Value {
    json!({
        "received": entry.received.precise(),
        "organization": organization,
        "type": entry.log_type.as_str(),
        "user": entry.entry.user,
        "source": entry.entry.source,
        "version": entry.entry.version,
        "computer": entry.entry.computer,
        "description": entry.entry.description,
        "serial_number": entry.serial_number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::inspection::{MockInspectionRepository, MockLogFollower, RegisteredOrganization};
    use domain::log_entry::ListedLogEntry;
    use domain::testing::at;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn entry(organization: i64, description: &str) -> InspectedLogEntry {
        InspectedLogEntry {
            organization: OrganizationId(organization),
            received: at(0),
            log_type: LogType::Log,
            serial_number: "SN-1000".to_owned(),
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
                   --log-type LOG --from 2026-05-04T07:00:00Z --to 2026-05-05T07:00:00Z";
        let expected = LogFilter {
            serial_number: pattern("sn*"),
            user: pattern("Ann"),
            source: pattern("Latex*"),
            version: pattern("1.*"),
            computer: pattern("RIP-01"),
            from: domain::timestamp::Timestamp::parse("2026-05-04T07:00:00Z"),
            to: domain::timestamp::Timestamp::parse("2026-05-05T07:00:00Z"),
            log_type: Some(LogType::Log),
        };
        assert_eq!(asked(all).filter(), expected);
        assert_eq!(
            asked_of(&["logs", "--user", ""]).filter(),
            LogFilter::default(),
            "an empty text is no filter (decision L7)"
        );
        assert!(asked("logs --since 1h").filter().from.is_some());
    }

    #[test]
    fn on_a_narrow_terminal_the_description_is_wrapped_and_whole() {
        let mut answer = Vec::new();
        let mut out = Out::new(&mut answer);
        let mut listing = Listing::new(COLUMNS, Screen { width: Some(80), colors: false }, false);
        let long = "words and words ".repeat(20);
        listing.record(&mut out, || Value::Null, || cells("Acme Print", &entry(1, long.trim()))).unwrap();
        listing.flush(&mut out).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let lines: Vec<&str> = answer.lines().collect();
        assert!(lines[1].contains("RIP-01") && lines[1].contains("Latex 1"), "{answer}");
        let words = answer.split_whitespace().filter(|word| ["words", "and"].contains(word));
        assert_eq!(words.collect::<Vec<_>>().join(" "), long.trim());
        assert!(lines.iter().all(|line| line.len() <= 80), "{answer}");
    }

    static READS: AtomicU32 = AtomicU32::new(0);

    #[tokio::test(start_paused = true)]
    async fn a_follower_ends_when_nobody_reads_and_learns_of_new_organizations() {
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
            let mut rounds = vec![vec![entry(2, "two\nlines")], vec![entry(1, "unsearched")], vec![entry(1, "one")]];
            let mut follower = MockLogFollower::new();
            follower.expect_next().returning(move || Ok(rounds.pop().unwrap_or_default()));
            Box::new(follower)
        };
        let register = Register::read(&inspection, None).await.unwrap();
        let search = Some(Folded::of("O"));
        let shown = Shown { register, search, listing: Listing::endless(false) };
        let mut answer = Vec::new();
        let is_read = || READS.fetch_add(1, Ordering::Relaxed) < 4;
        let ended = follow(&inspection, follower, shown, &mut Out::new(&mut answer), is_read).await;
        assert!(ended.unwrap_err().is::<ReaderGone>());
        let answer = String::from_utf8(answer).unwrap();
        let lines: Vec<&str> = answer.lines().collect();
        assert_eq!(lines.len(), 2, "{answer}");
        assert!(lines[0].contains("Acme Print  log") && lines[0].ends_with("  one"), "{answer}");
        assert!(lines[1].contains("New  log") && lines[1].ends_with("two\\nlines"), "{answer}");
    }
}
