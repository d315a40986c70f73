//! `platen refusals`

use super::failure::Failure;
use super::listing::Listing;
use super::look::{Look, Register, look};
use super::output::Out;
use super::table::{Cell, Column, Screen};
use super::values;
use crate::config::Config;
use clap::Args;
use domain::guid::ComputerGuid;
use domain::refusal::{Owner, RefusalFilter, RefusalRepository, Refused};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// Refusals that one question to the database asks for.
const PAGE: u64 = 200;

#[derive(Debug, Args)]
pub(super) struct RefusalsArguments {
    #[command(flatten)]
    look: Look,
    /// Only those of this computer
    #[arg(long, value_name = "GUID", value_parser = values::guid(ComputerGuid::parse))]
    computer: Option<ComputerGuid>,
    /// Only those of this last while, such as 90s, 30m, 1h or 2d
    #[arg(long, value_name = "DURATION", value_parser = values::since)]
    since: Option<Duration>,
}

pub(super) async fn run(config: &Config, arguments: RefusalsArguments) -> Result<ExitCode, Failure> {
    let RefusalsArguments { look: Look { organization, json }, computer, since } = arguments;
    let since = since.map(values::ago);
    let filter = RefusalFilter { organization, computer, since };
    look(config, async |database, out| {
        // An organization that isn't registered is not one that was refused nothing.
        if let Some(name) = &filter.organization {
            Register::read(&database.inspection(), Some(name)).await?;
        }
        list(&database.refusals(), &filter, json, Screen::of_stdout(), out).await
    })
    .await
}

async fn list(
    refusals: &dyn RefusalRepository,
    filter: &RefusalFilter,
    as_json: bool,
    screen: Screen,
    out: &mut Out<'_>,
) -> anyhow::Result<()> {
    let mut listing = Listing::new(COLUMNS, screen, as_json);
    let mut behind = None;
    loop {
        let page = refusals.page(filter, behind, PAGE).await?;
        let Some(last) = page.last() else {
            return listing.end(out, "no refusals found; they are kept for 7 days");
        };
        behind = Some((last.refusal.at, last.number));
        for refused in &page {
            listing.record(out, || json_of(refused), || cells(refused))?;
        }
    }
}

/// Who was refused, and why, is what is looked for.
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

fn cells(refused: &Refused) -> Vec<Cell> {
    let refusal = &refused.refusal;
    vec![
        Cell::new(refusal.at.to_string()),
        Cell::new(refusal.status.to_string()),
        Cell::new(&refusal.operation),
        Cell::new(&refusal.reason),
        Cell::new(caller(refused)),
        Cell::new(refusal.credential.as_str()),
        Cell::new(&refusal.serial_number),
        Cell::new(&refusal.application_version),
        Cell::new(&refusal.detail),
    ]
}

/// Organization, user and computer, as far as they are known. The address where they aren't, and where they were only
/// named by somebody who wasn't admitted.
fn caller(refused: &Refused) -> String {
    let refusal = &refused.refusal;
    let computer = refusal.computer.map(|computer| computer.to_string());
    let stranger = match &refusal.owner {
        Owner::Organization(_) => None,
        Owner::Address(_) => refusal.address.as_ref(),
    };
    let known = [refused.organization.as_ref(), refusal.user.as_ref(), computer.as_ref(), stranger];
    known.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" / ")
}

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
        let mut answer = Vec::new();
        let screen = Screen { width: None, colors: false };
        list(&refusals, &RefusalFilter::default(), false, screen, &mut Out::new(&mut answer)).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
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
            let mut answer = Vec::new();
            let screen = Screen { width: Some(room), colors: false };
            list(&refusals, &RefusalFilter::default(), false, screen, &mut Out::new(&mut answer)).await.unwrap();
            let answer = String::from_utf8(answer).unwrap();
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

    #[test]
    fn who_only_named_a_computer_is_told_with_its_address() {
        let computer = domain::testing::acme_records().computer;
        let mut refused = of_nobody();
        assert_eq!(caller(&refused), "192.0.2.1");
        refused.refusal = NewRefusal { computer: Some(computer), named: Some(OrganizationId(1)), ..refused.refusal };
        refused.organization = Some("Acme Print".to_owned());
        assert_eq!(caller(&refused), format!("Acme Print / {computer} / 192.0.2.1"));
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
