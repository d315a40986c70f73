//! Pages of the console over many devices, log entries, crash reports and resources: the time of each page.

use super::scale;
use crate::load;
use crate::platen::{DEVICES, Platen};
use crate::postgres::Postgres;
use crate::requests;
use crate::samples::{Pairs, Samples};
use crate::scenarios::{Expected, Prepared};
use crate::stage::{Stage, say};
use crate::table::{Goal, Row, number};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Name of a row, page below `/console`, and what the page is.
const PAGES: [(&str, &str, &str); 8] = [
    ("console-overview", "", "overview"),
    ("console-devices", "/devices", "devices"),
    ("console-logs", "/logs", "logs"),
    ("console-logs-text", "/logs?q=ripped", "logs with a text"),
    ("console-crashes", "/crashes", "crash groups"),
    ("console-resources", "/resources", "resources"),
    ("console-computers", "/computers", "computers"),
    ("console-refusals", "/refusals", "refusals"),
];

/// Milliseconds that a page may take.
const GOAL: f64 = 100.0;

/// Requests of each page in a run.
const REQUESTS: u64 = 20;

/// The rows of the store.
struct Amounts {
    devices: u64,
    computers: u64,
    entries: u64,
    reports: u64,
    groups: u64,
    resources: u64,
}

/// Milliseconds of each page, by the name of its row.
pub(crate) type Times = HashMap<&'static str, Samples>;

/// One of the rows. They are measured together: the store is filled only once.
pub(super) async fn row(stage: &Stage, name: &'static str) -> Result<Row> {
    let amounts = amounts(stage);
    if stage.console.borrow().is_none() {
        let measured = measure(stage, &amounts).await?;
        stage.console.replace(Some(measured));
    }
    let times = stage.console.borrow();
    let product = times.as_ref().and_then(|times| times.get(name)).context("this page was not measured")?.clone();
    let (_, _, page) = PAGES.into_iter().find(|(row, ..)| *row == name).context("this row has no page")?;
    let Amounts { devices, entries, reports, resources, .. } = amounts;
    let [devices, entries, reports, resources] =
        [devices, entries, reports, resources].map(|amount| number(amount as f64));
    Ok(Row {
        name,
        work: format!(
            "page of the console: {page}, 1 client, {devices} devices, {entries} log entries, {reports} crash reports, \
             {resources} resources"
        ),
        unit: "ms",
        pairs: Pairs { product, reference: Samples::default() },
        reference: String::new(),
        goal: Goal::ValueAtMost(GOAL),
        note: String::new(),
    })
}

/// A million resources come with ten thousand devices and computers, a million log entries and a hundred thousand crash
/// reports.
fn amounts(stage: &Stage) -> Amounts {
    let resources = stage.arguments.many();
    let share = |part: u64| (resources / part).max(1);
    Amounts {
        devices: share(100).max(DEVICES),
        computers: share(100),
        entries: resources,
        reports: share(10),
        groups: share(5_000).max(50),
        resources,
    }
}

async fn measure(stage: &Stage, amounts: &Amounts) -> Result<Times> {
    let (postgres, server) = (stage.postgres().await?, stage.on_postgres().await?);
    scale::fill(&postgres, &server, amounts.resources).await?;
    fill(&postgres, &server, amounts).await?;
    let token = token(stage, &server)?;
    let mut times = Times::new();
    for (row, path, _) in PAGES {
        let page = Prepared::of([0], Expected::Holding("<!doctype html>"), |out, _| {
            requests::console(out, path, &token);
        });
        // The first ones open connections and prepare statements.
        load::each(server.address, 3, &*page).await?;
        for _ in 0..stage.arguments.runs() {
            let each: Samples =
                load::each(server.address, REQUESTS, &*page).await?.into_iter().map(milliseconds).collect();
            say(&format!("   {row}: {:.1} ms", each.median()));
            times.entry(row).or_default().push(each.median());
        }
    }
    Ok(times)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A token of an admin of all organizations.
fn token(stage: &Stage, server: &Platen) -> Result<String> {
    let binary = &stage.arguments.platen;
    server.command(binary, &["operator", "add", "Bench"])?;
    let issued = server.command(binary, &["token", "issue", "--operator", "Bench", "--name", "bench"])?;
    let issued: Value = serde_json::from_str(issued.trim())?;
    Ok(issued["token"].as_str().context("the program printed no token")?.to_owned())
}

/// Brings the store to these amounts. One row of each kind comes from the program; the others are copies of it under other
/// keys, names and times, written by the database itself.
async fn fill(postgres: &Postgres, server: &Platen, amounts: &Amounts) -> Result<()> {
    say("   filling the store with devices, log entries and crash reports");
    for write in [requests::add_log, requests::update_status, requests::add_crash_report] {
        let one = Prepared::numbered(1, Expected::AtLeast(1), write);
        load::each(server.address, 1, &*one).await?;
    }
    analyzed(postgres).await?;
    let Amounts { devices, computers, entries, reports, groups, .. } = amounts;
    let device = requests::DEVICE_PREFIX;
    for sql in [
        copies("device", "n > {DEVICES}", &[("guid", &guid(device)), ("name", "'Latex ' || n")], *devices),
        copies(
            "device_status",
            "n > 1",
            &[("device_guid", &guid(device)), ("received_at", &ago("n % 1000"))],
            *devices,
        ),
        copies("computer", "n > 1", &[("guid", &guid(COMPUTER_PREFIX)), ("name", "'RIP-' || n")], *computers),
        copies("log_entry", "n > 1", &[("id", "1000000 + n"), ("received_at", &ago("n"))], *entries),
        copies(
            "crash_group",
            "n > 1",
            &[("id", &guid(GROUP_PREFIX)), ("signature", "'Spooler::render | ' || n")],
            *groups,
        ),
        copies("crash_report", "n > 1", &[("id", &guid(REPORT_PREFIX)), ("received_at", &ago("n * 10"))], *reports),
        copies(
            "crash_analysis",
            "n > 1",
            &[
                ("report_id", &guid(REPORT_PREFIX)),
                ("received_at", &ago("n * 10")),
                ("group_id", &format!("'{GROUP_PREFIX}' || lpad(to_hex(n % ({groups} - 1) + 2), 12, '0')")),
            ],
            *reports,
        ),
        "VACUUM ANALYZE".to_owned(),
    ] {
        postgres.sql(&sql).with_context(|| sql.clone())?;
    }
    Ok(())
}

const COMPUTER_PREFIX: &str = "00000000-0000-4000-a000-";
const GROUP_PREFIX: &str = "00000000-0000-4000-b000-";
const REPORT_PREFIX: &str = "00000000-0000-4000-a001-";

/// SQL for a GUID with the number in its last part.
fn guid(prefix: &str) -> String {
    format!("'{prefix}' || lpad(to_hex(n), 12, '0')")
}

/// SQL for the time so many seconds ago, in microseconds.
fn ago(seconds: &str) -> String {
    format!("(extract(epoch FROM now())::bigint - ({seconds})) * 1000000")
}

/// SQL that copies a row of a table under other values.
fn copies(table: &str, numbers: &str, values: &[(&str, &str)], last: u64) -> String {
    let numbers = numbers.replace("{DEVICES}", &DEVICES.to_string());
    let values: Vec<String> = values.iter().map(|(column, value)| format!("'{column}', {value}")).collect();
    format!(
        "INSERT INTO {table} SELECT r.* FROM generate_series(1, {last}) n,
         LATERAL jsonb_populate_record((SELECT t FROM {table} t LIMIT 1), jsonb_build_object({})) r
         WHERE {numbers} ON CONFLICT DO NOTHING",
        values.join(", ")
    )
}

/// Waits until the report that was sent has been analyzed.
async fn analyzed(postgres: &Postgres) -> Result<()> {
    for _ in 0..100 {
        if postgres.sql("SELECT count(*) FROM crash_group")? != "0" {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    ensure!(false, "the crash report was not analyzed");
    Ok(())
}
