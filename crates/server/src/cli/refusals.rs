//! `platen refusals`

use super::failure::Failure;
use super::output;
use crate::config::{Config, duration};
use crate::wiring;
use clap::Args;
use domain::guid::ComputerGuid;
use domain::refusal::{RefusalFilter, RefusalRepository, Refused};
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// Refusals that one question to the database asks for.
const PAGE: u64 = 200;

#[derive(Debug, Args)]
pub(super) struct RefusalsArguments {
    /// Only those of this organization
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
    /// Only those of this computer
    #[arg(long, value_name = "GUID", value_parser = computer)]
    computer: Option<ComputerGuid>,
    /// Only those of this last while, such as 90s, 30m, 1h or 2d
    #[arg(long, value_name = "DURATION", value_parser = since)]
    since: Option<Duration>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

fn computer(text: &str) -> Result<ComputerGuid, String> {
    ComputerGuid::parse(text).ok_or_else(|| "it is not a GUID".to_owned())
}

fn since(text: &str) -> Result<Duration, String> {
    duration(text).ok_or_else(|| "allowed is a duration, such as 1h (units ms, s, m, h, d, w)".to_owned())
}

pub(super) async fn run(config: &Config, arguments: RefusalsArguments) -> Result<ExitCode, Failure> {
    let RefusalsArguments { organization, computer, since, json } = arguments;
    let since = since.map(|since| wiring::clock().now().minus(since));
    let (database, _) = wiring::open_database(&config.database).await?;
    let filter = RefusalFilter { organization, computer, since };
    let listed = list(&database.refusals(), &filter, json).await;
    wiring::close(database).await;
    listed?;
    Ok(ExitCode::SUCCESS)
}

async fn list(refusals: &dyn RefusalRepository, filter: &RefusalFilter, as_json: bool) -> anyhow::Result<()> {
    let mut behind = None;
    loop {
        let page = refusals.page(filter, behind, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        let lines = if as_json { page.iter().map(json_line).collect() } else { table(&page, behind.is_none()) };
        for line in lines {
            output::line(&line)?;
        }
        behind = Some((last.refusal.at, last.number));
    }
}

/// Columns before the last one, which is as wide as it is.
const COLUMNS: [&str; 6] = ["TIME", "STATUS", "OPERATION", "REASON", "CALLER", "CREDENTIAL"];

fn cells(refused: &Refused) -> [String; 6] {
    let refusal = &refused.refusal;
    [
        refusal.at.to_string(),
        refusal.status.to_string(),
        refusal.operation.clone(),
        refusal.reason.clone(),
        caller(refused),
        refusal.credential.as_str().to_owned(),
    ]
}

/// Organization, user and computer, as far as they are known; else the address.
fn caller(refused: &Refused) -> String {
    let refusal = &refused.refusal;
    let computer = refusal.computer.map(|computer| computer.to_string());
    let known = [refused.organization.as_ref(), refusal.user.as_ref(), computer.as_ref()];
    let known: Vec<&str> = known.into_iter().flatten().map(String::as_str).collect();
    match &refusal.address {
        Some(address) if known.is_empty() => address.clone(),
        _ => known.join(" / "),
    }
}

/// The rows of a page, under the names of the columns if it is the first.
fn table(page: &[Refused], is_first: bool) -> Vec<String> {
    let head = COLUMNS.map(str::to_owned);
    let heads = is_first.then_some((head, "DETAIL")).into_iter();
    let rows = page.iter().map(|refused| (cells(refused), refused.refusal.detail.as_str()));
    let rows: Vec<([String; 6], &str)> = heads.chain(rows).collect();
    let width = |column: usize| rows.iter().map(|(cells, _)| cells[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let line = |(cells, detail): &([String; 6], &str)| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        format!("{}{detail}", padded.collect::<String>()).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn json_line(refused: &Refused) -> String {
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
        "address": refusal.address,
        "request_id": refusal.request_id,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::OrganizationId;
    use domain::refusal::{CredentialKind, NewRefusal, Owner};
    use domain::testing::a_refusal;

    fn of_ann() -> Refused {
        let refusal = NewRefusal {
            user: Some("Ann".to_owned()),
            credential: CredentialKind::MisKey,
            detail: "sent 2026-01-01".to_owned(),
            ..a_refusal(Owner::Organization(OrganizationId(1)))
        };
        Refused { number: 1, organization: Some("Acme Print".to_owned()), refusal }
    }

    fn of_nobody() -> Refused {
        let owner = Owner::Address("192.0.2.1".to_owned());
        Refused { number: 2, organization: None, refusal: NewRefusal { detail: String::new(), ..a_refusal(owner) } }
    }

    #[test]
    fn columns_stand_under_their_names() {
        let lines = table(&[of_ann(), of_nobody()], true);
        assert_eq!(lines.len(), 3);
        let place = |name: &str| lines[0].find(name).unwrap();
        assert_eq!(lines[1].find("Acme Print / Ann"), Some(place("CALLER")));
        assert_eq!(lines[2].find("192.0.2.1"), Some(place("CALLER")));
        assert_eq!(lines[1].find("sent 2026"), Some(place("DETAIL")));
        assert!(lines.iter().all(|line| line.trim_end() == line));
        assert_eq!(table(&[of_ann()], false).len(), 1);
    }

    #[test]
    fn json_names_what_is_known_and_null_for_the_rest() {
        let line: serde_json::Value = serde_json::from_str(&json_line(&of_nobody())).unwrap();
        assert_eq!((&line["address"], &line["organization"]), (&json!("192.0.2.1"), &json!(null)));
        let line: serde_json::Value = serde_json::from_str(&json_line(&of_ann())).unwrap();
        assert_eq!((&line["user"], &line["credential"]), (&json!("Ann"), &json!("mis_key")));
    }

    #[test]
    fn what_is_not_a_guid_or_a_duration_is_refused() {
        assert!(computer("6f9619ff-8b86-d011-b42d-00c04fc964ff").is_ok() && computer("RIP-01").is_err());
        assert_eq!(since("2d"), Ok(Duration::from_hours(48)));
        assert!(since("yesterday").unwrap_err().contains("such as 1h"));
    }
}
