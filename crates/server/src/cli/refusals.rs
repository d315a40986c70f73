//! `platen refusals`

use super::failure::Failure;
use super::listing::Listing;
use super::look::{Look, Period, look};
use super::names::{Computers, KnownComputer, Register};
use super::output::{self, Out, ReaderGone, is_stdout_read};
use super::table::{Cell, Column, Screen};
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use clap::Args;
use domain::guid::ComputerGuid;
use domain::refusal::{Owner, RefusalFilter, RefusalRepository, Refused};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

/// Refusals that one query asks for.
const PAGE: u64 = 200;

/// Pause after which a follower looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// A refusal may be recorded this long after its time: by another server, whose clock may differ.
const LATE: Duration = Duration::from_mins(1);

#[derive(Debug, Args)]
pub(super) struct RefusalsArguments {
    #[command(flatten)]
    look: Look,
    #[command(flatten)]
    period: Period,
    /// Only those of this computer, also those that are probably its own by their SerialNumber
    #[arg(long, value_name = "NAME|GUID")]
    computer: Option<String>,
    /// Only those with this SerialNumber
    #[arg(long, value_name = "TEXT")]
    serial: Option<String>,
    /// Only those of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Only those for this reason, such as hardware_hash_invalid
    #[arg(long, value_name = "REASON")]
    reason: Option<String>,
    /// Only those of this client address
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Only this many, the newest
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Show the refusals that are recorded from now on, until it is interrupted
    #[arg(long, conflicts_with_all = ["from", "to", "since", "limit"])]
    follow: bool,
}

pub(super) async fn run(config: &Config, asked: RefusalsArguments) -> Result<ExitCode, Failure> {
    look(config, async |database, out| {
        let register = Register::read(&database.inspection(), asked.look.organization.as_deref()).await?;
        let computers = Computers::read(&wiring::fleet_service(database), &register).await?;
        let computer = asked.computer.as_deref().map(|text| computers.named(text)).transpose()?.map(|named| named.guid);
        let refusals = Refusals { computers: &computers, computer, asked: &asked };
        if asked.follow {
            return refusals.follow(&database.refusals(), out, is_stdout_read).await;
        }
        refusals.list(&database.refusals(), Screen::of_stdout(), out).await
    })
    .await
}

/// The refusals that are asked for.
struct Refusals<'a> {
    computers: &'a Computers,
    computer: Option<ComputerGuid>,
    asked: &'a RefusalsArguments,
}

impl Refusals<'_> {
    async fn list(&self, refusals: &dyn RefusalRepository, screen: Screen, out: &mut Out<'_>) -> Result<()> {
        let mut listing = Listing::new(COLUMNS, screen, self.asked.look.json);
        let (from, to) = self.asked.period.bounds();
        let mut pages = Pages::since(refusals, from);
        let mut left = self.asked.limit.unwrap_or(usize::MAX);
        loop {
            let page = pages.next().await?;
            if page.is_empty() || left == 0 {
                return listing.end(out, "no refusals found; they are kept for 7 days");
            }
            let wanted = |refused: &&Refused| to.is_none_or(|to| refused.refusal.at <= to) && self.fits(refused);
            for refused in page.iter().filter(wanted).take(left) {
                self.record(&mut listing, refused, out)?;
                left -= 1;
            }
        }
    }

    /// Goes on until it fails, is interrupted, or stdout is no longer read.
    async fn follow(&self, refusals: &dyn RefusalRepository, out: &mut Out<'_>, is_read: fn() -> bool) -> Result<()> {
        let mut listing = Listing::endless(self.asked.look.json);
        let begin = wiring::clock().now();
        let mut seen: HashMap<i64, Timestamp> = HashMap::new();
        output::notice("waiting for refusals; Ctrl-C ends");
        while is_read() {
            let since = begin.max(wiring::clock().now().minus(LATE));
            seen.retain(|_, at| *at >= since);
            let mut found = Vec::new();
            let mut pages = Pages::since(refusals, Some(since));
            loop {
                let page = pages.next().await?;
                if page.is_empty() {
                    break;
                }
                found.extend(page.into_iter().filter(|refused| !seen.contains_key(&refused.number)));
            }
            for refused in found.iter().rev() {
                seen.insert(refused.number, refused.refusal.at);
                if self.fits(refused) {
                    self.record(&mut listing, refused, out)?;
                }
            }
            out.flush()?;
            sleep(PAUSE).await;
        }
        Err(ReaderGone.into())
    }

    fn record(&self, listing: &mut Listing, refused: &Refused, out: &mut Out<'_>) -> Result<()> {
        listing.record(out, || json_of(refused), || self.cells(refused))
    }

    fn fits(&self, refused: &Refused) -> bool {
        let (asked, refusal) = (self.asked, &refused.refusal);
        let probable = self.probable(refused);
        let is_same = |wanted: &Option<String>, text: &str| {
            wanted.as_deref().is_none_or(|wanted| Folded::of(wanted) == Folded::of(text))
        };
        let is_of = |wanted: &Option<String>| {
            let of = refused.organization.as_deref().or(probable.map(|computer| computer.organization.as_str()));
            wanted.is_none() || of == wanted.as_deref()
        };
        let computer = refusal.computer.or(probable.map(|computer| computer.guid));
        is_of(&asked.look.organization)
            && (self.computer.is_none() || self.computer == computer)
            && is_same(&asked.serial, &refusal.serial_number)
            && is_same(&asked.user, refusal.user.as_deref().unwrap_or_default())
            && is_same(&asked.reason, &refusal.reason)
            && is_same(&asked.address, refusal.address.as_deref().unwrap_or_default())
    }

    /// The computer whose SerialNumber a caller sent that was not authenticated: after its main board is swapped, a
    /// computer has another HardwareHash.
    fn probable(&self, refused: &Refused) -> Option<&KnownComputer> {
        let is_unknown = matches!(refused.refusal.owner, Owner::Address(_)) && refused.refusal.computer.is_none();
        let serial_number = Some(&refused.refusal.serial_number).filter(|number| is_unknown && !number.is_empty())?;
        self.computers.of_serial_number(serial_number)
    }

    fn cells(&self, refused: &Refused) -> Vec<Cell> {
        let refusal = &refused.refusal;
        vec![
            Cell::new(refusal.at.to_string()),
            Cell::new(refusal.status.to_string()),
            Cell::new(&refusal.operation),
            Cell::new(&refusal.reason),
            Cell::new(self.caller(refused)),
            Cell::new(refusal.credential.as_str()),
            Cell::new(&refusal.serial_number),
            Cell::new(&refusal.application_version),
            Cell::new(&refusal.detail),
        ]
    }

    /// Organization, user and computer, as far as they are known; the address too if the caller was not authenticated.
    fn caller(&self, refused: &Refused) -> String {
        let refusal = &refused.refusal;
        let probable = self.probable(refused);
        let organization = refused.organization.clone().or(probable.map(|computer| computer.organization.clone()));
        let computer = match (refusal.computer, probable) {
            (Some(guid), _) => Some(self.computers.of_guid(guid).map_or(guid.to_string(), |known| known.name.clone())),
            (None, probable) => probable.map(|computer| format!("probably {}", computer.name)),
        };
        let address = match &refusal.owner {
            Owner::Organization(_) => None,
            Owner::Address(_) => refusal.address.clone(),
        };
        let known = [organization, refusal.user.clone(), computer, address];
        known.into_iter().flatten().collect::<Vec<_>>().join(" / ")
    }
}

/// The refusals since a time, the newest first, page by page.
struct Pages<'a> {
    refusals: &'a dyn RefusalRepository,
    filter: RefusalFilter,
    behind: Option<(Timestamp, i64)>,
}

impl<'a> Pages<'a> {
    fn since(refusals: &'a dyn RefusalRepository, since: Option<Timestamp>) -> Self {
        Self { refusals, filter: RefusalFilter { since, ..RefusalFilter::default() }, behind: None }
    }

    /// Empty at the end.
    async fn next(&mut self) -> Result<Vec<Refused>> {
        let page = self.refusals.page(&self.filter, self.behind, PAGE).await?;
        self.behind = page.last().map(|last| (last.refusal.at, last.number)).or(self.behind);
        Ok(page)
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
    Column::text("DETAIL"),
];

fn json_of(refused: &Refused) -> Value {
    let refusal = &refused.refusal;
    json!({
        "time": refusal.at.precise(),
        "status": refusal.status,
        "operation": refusal.operation,
        "reason": refusal.reason,
        "detail": refusal.detail,
        "organization": refused.organization,
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::refusal::{CredentialKind, MockRefusalRepository, NewRefusal};
    use domain::testing::a_refusal;

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

    fn of_nobody() -> Refused {
        let owner = Owner::Address("192.0.2.1".to_owned());
        Refused { number: 2, organization: None, refusal: NewRefusal { detail: String::new(), ..a_refusal(owner) } }
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
        let (computers, asked) = (Computers::default(), asked(line));
        let mut answer = Vec::new();
        let all = Refusals { computers: &computers, computer: None, asked: &asked };
        all.list(refusals, screen, &mut Out::new(&mut answer)).await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn pages_follow_each_other_in_one_table() {
        let mut refusals = MockRefusalRepository::new();
        refusals.expect_page().times(3).returning(|_, behind, _| {
            Ok(match behind {
                None => vec![of_ann()],
                Some((_, 1)) => vec![of_nobody()],
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
        refusals.expect_page().returning(|_, behind, _| Ok(if behind.is_none() { vec![of_ann()] } else { Vec::new() }));
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
        refusals
            .expect_page()
            .returning(|_, behind, _| Ok(if behind.is_none() { vec![of_ann(), of_nobody()] } else { Vec::new() }));
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
        let computer = KnownComputer::named_for_test("Acme Print", "RIP-02", "SN-2");
        let (guid, computers) = (computer.guid, Computers::of_test(vec![computer]));
        let mut refused = of_nobody();
        refused.refusal.serial_number = "sn-2".to_owned();
        let of = |computer, line: &str, refused: &Refused| {
            let asked = asked(line);
            let all = Refusals { computers: &computers, computer, asked: &asked };
            (all.caller(refused), all.fits(refused))
        };
        assert_eq!(of(Some(guid), "refusals", &refused).0, "Acme Print / probably RIP-02 / 192.0.2.1");
        assert!(of(Some(guid), "refusals", &refused).1);
        refused.refusal.serial_number = "SN-9".to_owned();
        assert_eq!(of(None, "refusals", &refused), ("192.0.2.1".to_owned(), true));
        assert!(!of(Some(guid), "refusals", &refused).1 && !of(None, "refusals --organization Zenith", &refused).1);

        // It named a computer by its HardwareHash, under another SerialNumber.
        refused.refusal = NewRefusal { computer: Some(guid), named: Some(OrganizationId(1)), ..refused.refusal };
        refused.organization = Some("Acme Print".to_owned());
        assert_eq!(of(Some(guid), "refusals", &refused), ("Acme Print / RIP-02 / 192.0.2.1".to_owned(), true));
        assert_eq!(json_of(&refused)["admitted"], json!(false));
    }

    #[test]
    fn json_names_what_is_known_and_null_for_the_rest() {
        let line = json_of(&of_nobody());
        assert_eq!((&line["address"], &line["organization"]), (&json!("192.0.2.1"), &json!(null)));
        let line = json_of(&of_ann());
        assert_eq!((&line["user"], &line["credential"]), (&json!("Ann"), &json!("mis_key")));
        assert_eq!((&line["serial_number"], &line["admitted"]), (&json!("SN-1"), &json!(true)));
        assert_eq!(line["application_version"], json!("9.\x1b[2J"));
    }
}
