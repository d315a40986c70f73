//! `platen refusals`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::lookup::{Kind, NamedRecord, Organizations, Records};
use super::output::{self, Out, is_stdout_open};
use super::query::{self, Limit, QueryOptions, TimeRange};
use super::table::{Cell, Column};
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use domain::guid::ComputerGuid;
use domain::refusal::{NewRefusal, Owner, RefusalFilter, RefusalRepository, Refused, recorded_codes};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, Stream};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::ready;
use std::process::ExitCode;
use std::time::Duration;

/// Refusals that one query asks for.
const PAGE: u64 = 200;

/// A refusal may be recorded this long after its time: by another server, whose clock may differ.
const MAX_DELAY: Duration = Duration::from_mins(1);

#[derive(Debug, Args)]
pub(super) struct RefusalsArguments {
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    period: TimeRange,
    /// Only those of this computer, by its name or GUID; also those that are probably its own by their SerialNumber
    #[arg(long, value_name = "NAME|GUID")]
    computer: Option<String>,
    /// Only those with this SerialNumber
    #[arg(long, alias = "serial", value_name = "TEXT")]
    serial_number: Option<String>,
    /// Only those of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Only those for this reason, such as hardware_hash_invalid; docs/api-messages.md lists the words
    #[arg(long, value_name = "REASON", ignore_case = true, hide_possible_values = true,
        value_parser = PossibleValuesParser::new(recorded_codes()))]
    reason: Option<String>,
    /// Only those of this client address
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Show the refusals that are recorded from now on, until it is interrupted
    #[arg(long, conflicts_with_all = ["from", "to", "since", "limit"])]
    follow: bool,
}

pub(super) async fn run(config: &Config, asked: RefusalsArguments) -> Result<ExitCode, Failure> {
    query::run(config, async |database, out| {
        let organizations = Organizations::read(&database.inspection(), asked.options.organization.as_deref()).await?;
        let computers = Records::read(&wiring::fleet_service(database), &organizations, Kind::Computer).await?;
        let named = asked.computer.as_deref().map(|text| computers.named(text)).transpose()?;
        let computer = named.map(|found| found.guid.into());
        let organization = organizations.only().map(|only| &*only.name);
        let refusals = RefusalList { computers: &computers, organization, computer, asked: &asked };
        if asked.follow {
            return refusals.follow(&database.refusals(), out, is_stdout_open).await;
        }
        refusals.list(&database.refusals(), out).await
    })
    .await
}

/// The refusals that are asked for.
struct RefusalList<'a> {
    computers: &'a Records,
    organization: Option<&'a str>,
    computer: Option<ComputerGuid>,
    asked: &'a RefusalsArguments,
}

impl RefusalList<'_> {
    async fn list(&self, refusals: &dyn RefusalRepository, out: &mut Out<'_>) -> Result<()> {
        let (from, to) = self.asked.period.bounds();
        let refusals = newest_first(refusals, from)
            .map_ok(|refused| self.record(refused))
            .try_filter(|record| ready(to.is_none_or(|to| record.refused.refusal.at <= to) && self.fits(record)))
            .take(self.asked.limit.get());
        let listing = Listing::new(COLUMNS, out, self.asked.options.json);
        listing.write(refusals, "no refusals found; they are kept for 7 days", out).await
    }

    async fn follow(&self, refusals: &dyn RefusalRepository, out: &mut Out<'_>, is_open: fn() -> bool) -> Result<()> {
        let begin = wiring::clock().now();
        let mut seen: HashMap<i64, Timestamp> = HashMap::new();
        let next = async || {
            let since = begin.max(wiring::clock().now().minus(MAX_DELAY));
            seen.retain(|_, at| *at >= since);
            let mut new: Vec<Refused> = newest_first(refusals, Some(since))
                .try_filter(|refused| ready(!seen.contains_key(&refused.number)))
                .try_collect()
                .await?;
            new.reverse();
            seen.extend(new.iter().map(|refused| (refused.number, refused.refusal.at)));
            let is_new = !new.is_empty();
            let records = new.into_iter().map(|refused| self.record(refused)).filter(|record| self.fits(record));
            Ok(is_new.then(|| records.collect()))
        };
        output::notice("waiting for refusals; Ctrl-C ends");
        Listing::endless(self.asked.options.json).follow(next, out, is_open).await
    }

    fn record(&self, refused: Refused) -> RefusalRecord<'_> {
        RefusalRecord { computer: self.computer_of(&refused), refused }
    }

    fn fits(&self, record: &RefusalRecord<'_>) -> bool {
        let (asked, refusal) = (self.asked, &record.refused.refusal);
        let is_same = |wanted: &Option<String>, text: &str| {
            wanted.as_deref().is_none_or(|wanted| Folded::of(wanted) == Folded::of(text))
        };
        (self.organization.is_none() || record.organization() == self.organization)
            && (self.computer.is_none() || self.computer == record.computer.guid())
            && is_same(&asked.serial_number, &refusal.serial_number)
            && is_same(&asked.user, refusal.user.as_deref().unwrap_or_default())
            && is_same(&asked.reason, &refusal.reason)
            && is_same(&asked.address, refusal.address.as_deref().unwrap_or_default())
    }

    /// The computer that called or was named. After its main board is swapped, a computer sends another HardwareHash: then
    /// its SerialNumber names it.
    fn computer_of(&self, refused: &Refused) -> RefusedComputer<'_> {
        let NewRefusal { owner, computer, serial_number, .. } = &refused.refusal;
        if let Some(guid) = *computer {
            return RefusedComputer::Known(guid, self.computers.of_guid(guid.as_uuid()));
        }
        let is_unknown = matches!(owner, Owner::Address(_)) && !serial_number.is_empty();
        let probable = if is_unknown { self.computers.of_serial_number(serial_number) } else { None };
        probable.map_or(RefusedComputer::Unknown, RefusedComputer::Probable)
    }
}

/// The refusals since a time.
fn newest_first(refusals: &dyn RefusalRepository, since: Option<Timestamp>) -> impl Stream<Item = Result<Refused>> {
    let filter = RefusalFilter { since, ..RefusalFilter::default() };
    let pages = stream::try_unfold(None, move |after| {
        let filter = filter.clone();
        async move {
            let page = refusals.page(&filter, after, PAGE).await?;
            let last = page.last().map(Refused::cursor);
            anyhow::Ok(last.map(|last| (stream::iter(page.into_iter().map(Ok)), Some(last))))
        }
    });
    pages.try_flatten()
}

/// A refusal and the computer that it concerns.
struct RefusalRecord<'a> {
    computer: RefusedComputer<'a>,
    refused: Refused,
}

enum RefusedComputer<'a> {
    Known(ComputerGuid, Option<&'a NamedRecord>),
    /// By its SerialNumber alone.
    Probable(&'a NamedRecord),
    Unknown,
}

impl RefusedComputer<'_> {
    fn guid(&self) -> Option<ComputerGuid> {
        match self {
            Self::Known(guid, _) => Some(*guid),
            Self::Probable(computer) => Some(computer.guid.into()),
            Self::Unknown => None,
        }
    }

    fn name(&self) -> Option<String> {
        match self {
            Self::Known(guid, computer) => Some(computer.map_or_else(|| guid.to_string(), |known| known.name.clone())),
            Self::Probable(computer) => Some(format!("probably {}", computer.name)),
            Self::Unknown => None,
        }
    }
}

impl RefusalRecord<'_> {
    fn organization(&self) -> Option<&str> {
        let probable = match &self.computer {
            RefusedComputer::Probable(computer) => Some(computer.organization.as_str()),
            _ => None,
        };
        self.refused.organization.as_deref().or(probable)
    }

    /// Organization, user and computer, as far as they are known; the address too if the caller was not authenticated.
    fn caller(&self) -> String {
        let refusal = &self.refused.refusal;
        let address = match &refusal.owner {
            Owner::Organization(_) => None,
            Owner::Address(_) => refusal.address.clone(),
        };
        let known = [self.organization().map(str::to_owned), refusal.user.clone(), self.computer.name(), address];
        known.into_iter().flatten().collect::<Vec<_>>().join(" / ")
    }
}

const COLUMNS: [Column; 9] = [
    Column::whole("TIME"),
    Column::optional("STATUS"),
    Column::optional("OPERATION"),
    Column::whole("REASON"),
    Column::text("CALLER"),
    Column::optional("CREDENTIAL"),
    Column::text("SERIAL"),
    Column::optional("VERSION"),
    Column::wide("DETAIL"),
];

impl Record for RefusalRecord<'_> {
    fn cells(&self) -> Vec<Cell> {
        let refusal = &self.refused.refusal;
        vec![
            Cell::new(refusal.at.to_string()),
            Cell::new(refusal.status.to_string()),
            Cell::new(&refusal.operation),
            Cell::new(&refusal.reason),
            Cell::new(self.caller()),
            Cell::new(refusal.credential.as_str()),
            Cell::new(&refusal.serial_number),
            Cell::new(&refusal.application_version),
            Cell::new(&refusal.detail),
        ]
    }

    fn json(&self) -> Value {
        let Refused { organization, refusal, .. } = &self.refused;
        json!({
            "time": refusal.at.precise(),
            "status": refusal.status,
            "operation": refusal.operation,
            "reason": refusal.reason,
            "detail": refusal.detail,
            "organization": organization,
            "user": refusal.user,
            "computer": refusal.computer.map(|computer| computer.to_string()),
            "credential": refusal.credential.as_str(),
            "admitted": matches!(refusal.owner, Owner::Organization(_)),
            "serial_number": refusal.serial_number,
            "application_version": refusal.application_version,
            "address": refusal.address,
            "request_id": refusal.request_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::caller::OrganizationId;
    use domain::fleet::{Computer, FleetOrganization};
    use domain::refusal::{CredentialKind, MockRefusalRepository, NewRefusal, RefusalCursor};
    use domain::testing::{a_fleet, a_refusal, numbered};

    fn of_ann() -> Refused {
        let refusal = NewRefusal {
            user: Some("Ann".to_owned()),
            credential: CredentialKind::MisKey,
            detail: "sent 2026-01-01".to_owned(),
            serial_number: "SN-1".to_owned(),
            application_version: "9.\x1b[2J".to_owned(),
            ..a_refusal(Owner::Organization(OrganizationId(1)))
        };
        Refused { number: 1, organization: Some("Acme\x1b[2J Print".to_owned()), refusal }
    }

    fn of_unknown_caller() -> Refused {
        let owner = Owner::Address("192.0.2.1".to_owned());
        Refused { number: 2, organization: None, refusal: NewRefusal { detail: String::new(), ..a_refusal(owner) } }
    }

    fn json_of(refused: Refused) -> Value {
        RefusalRecord { computer: RefusedComputer::Unknown, refused }.json()
    }

    fn asked(line: &str) -> RefusalsArguments {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            arguments: RefusalsArguments,
        }
        let Only { arguments } = clap::Parser::try_parse_from(line.split(' ')).unwrap();
        arguments
    }

    async fn listed(refusals: &MockRefusalRepository, line: &str, screen: Screen) -> String {
        let (computers, asked) = (Records::of_test(Kind::Computer, &[]), asked(line));
        let mut answer = Vec::new();
        let all = RefusalList { computers: &computers, organization: None, computer: None, asked: &asked };
        all.list(refusals, &mut Out::new(&mut answer, screen)).await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn pages_follow_each_other_in_one_table() {
        let mut refusals = MockRefusalRepository::new();
        refusals.expect_page().times(3).returning(|_, after, _| {
            Ok(match after {
                None => vec![of_ann()],
                Some(RefusalCursor { number: 1, .. }) => vec![of_unknown_caller()],
                Some(_) => Vec::new(),
            })
        });
        let answer = listed(&refusals, "refusals", Screen::PIPE).await;
        let lines: Vec<&str> = answer.lines().collect();
        assert_eq!(lines.len(), 3);
        let place = |name: &str| lines[0].find(name).unwrap();
        assert_eq!(lines[1].find("Acme\\x1b[2J Print / Ann"), Some(place("CALLER")));
        assert_eq!(lines[2].find("192.0.2.1"), Some(place("CALLER")));
        assert_eq!(lines[1].find("sent 2026"), Some(place("DETAIL")));
        assert_eq!(lines[1].find("SN-1"), Some(place("SERIAL")));
        assert_eq!(lines[1].find("9.\\x1b[2J"), Some(place("VERSION")));
        assert!(lines.iter().all(|line| line.trim_end() == *line));
    }

    #[tokio::test]
    async fn on_a_narrow_terminal_reason_caller_and_serial_number_stay() {
        let mut refusals = MockRefusalRepository::new();
        refusals.expect_page().returning(|_, after, _| Ok(if after.is_none() { vec![of_ann()] } else { Vec::new() }));
        for room in [80, 100, 200] {
            let answer = listed(&refusals, "refusals", Screen { width: Some(room), colors: false }).await;
            let lines: Vec<&str> = answer.lines().collect();
            assert!(lines.iter().all(|line| line.len() <= usize::from(room)), "{answer}");
            for part in [&of_ann().refusal.reason, "Acme\\x1b[2J", "Print", "SN-1", "sent", "2026-01-01"] {
                assert!(answer.contains(part), "{part}: {answer}");
            }
            assert!(lines[0].contains("SERIAL"), "{answer}");
            for optional in ["OPERATION", "VERSION"] {
                assert_eq!(lines[0].contains(optional), room == 200, "{answer}");
            }
        }
    }

    #[tokio::test]
    async fn filters_are_combined_and_the_newest_are_shown() {
        let mut refusals = MockRefusalRepository::new();
        refusals.expect_page().returning(|_, after, _| {
            Ok(if after.is_none() { vec![of_ann(), of_unknown_caller()] } else { Vec::new() })
        });
        for (line, expected) in [
            ("refusals", 2),
            ("refusals --limit 1", 1),
            ("refusals --user ann", 1),
            ("refusals --serial sn-1 --reason TIMESTAMP_INVALID", 1),
            ("refusals --serial sn-1 --user Bob", 0),
            ("refusals --address 192.0.2.9", 0),
        ] {
            let answer = listed(&refusals, &format!("{line} --json"), Screen::PIPE).await;
            assert_eq!(answer.lines().count(), expected, "{line}: {answer}");
        }
    }

    #[test]
    fn a_swapped_main_board_is_probably_the_computer_of_its_serial_number() {
        let guid = ComputerGuid::from(numbered(2));
        let [name, serial_number] = ["RIP-02", "SN-2"].map(|text| Some(text.to_owned()));
        let computer = Computer { guid, name, hardware_hash: None, serial_number, user: None };
        let organization = FleetOrganization { computers: vec![computer], ..a_fleet().organizations.remove(0) };
        let computers = Records::of_test(Kind::Computer, &[organization]);
        let mut refused = of_unknown_caller();
        refused.refusal.serial_number = "sn-2".to_owned();
        let of = |computer, organization: Option<&str>, refused: &Refused| {
            let asked = asked("refusals");
            let all = RefusalList { computers: &computers, organization, computer, asked: &asked };
            let record = all.record(refused.clone());
            (record.caller(), all.fits(&record))
        };
        assert_eq!(of(Some(guid), None, &refused).0, "Acme Print / probably RIP-02 / 192.0.2.1");
        assert!(of(Some(guid), None, &refused).1);
        refused.refusal.serial_number = "SN-9".to_owned();
        assert_eq!(of(None, None, &refused), ("192.0.2.1".to_owned(), true));
        assert!(!of(Some(guid), None, &refused).1 && !of(None, Some("Zenith Media"), &refused).1);

        // It named a computer by its HardwareHash, under another SerialNumber.
        refused.refusal = NewRefusal { computer: Some(guid), named: Some(OrganizationId(1)), ..refused.refusal };
        refused.organization = Some("Acme Print".to_owned());
        assert_eq!(of(Some(guid), None, &refused), ("Acme Print / RIP-02 / 192.0.2.1".to_owned(), true));
        assert_eq!(json_of(refused)["admitted"], json!(false));
    }

    #[test]
    fn the_documents_list_the_words_of_all_reasons() {
        let document = include_str!("../../../../docs/api-messages.md");
        let (_, section) = document.split_once("## Reason words").unwrap();
        let listed: Vec<&str> =
            section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(listed, recorded_codes());
    }

    #[test]
    fn json_names_what_is_known_and_null_for_the_rest() {
        let line = json_of(of_unknown_caller());
        assert_eq!((&line["address"], &line["organization"]), (&json!("192.0.2.1"), &json!(null)));
        let line = json_of(of_ann());
        assert_eq!((&line["user"], &line["credential"]), (&json!("Ann"), &json!("mis_key")));
        assert_eq!((&line["serial_number"], &line["admitted"]), (&json!("SN-1"), &json!(true)));
        assert_eq!(line["application_version"], json!("9.\x1b[2J"));
    }
}
