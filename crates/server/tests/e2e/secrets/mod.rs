//! What the program was given in confidence shows nowhere but where it belongs (interface part 5; decisions R4, R11,
//! A1, A9): each secret and each content is a mark of its own, and everything that the program puts out is searched
//! for all of them, in every way in which a text is commonly written.

pub(crate) mod marks;
mod requests;

use crate::support::client::Client;
use crate::support::collector::Collector;
use crate::support::records::Reader;
use crate::support::setup::Stores;
use crate::support::{Server, Site, eventually, files_below};
use marks::{Marks, Seen};
use requests::Responses;
use std::fs;

/// Everything a server wrote and answered while it ran.
async fn told_by(site: &Site, server: &Server, collector: &Collector) -> Vec<(String, Vec<u8>)> {
    let client = Client::without_credentials(&server.ops);
    let metrics = client.get("/metrics").await.bytes().await.unwrap();
    let mut output = vec![("the metrics".to_owned(), metrics.to_vec())];
    for line in [
        "config",
        "config --json",
        "refusals",
        "refusals --json",
        "fleet export",
        "fleet show",
        "fleet apply fleet.json",
        "blobs check",
        "migrate",
        "openapi",
    ] {
        let ran = site.run_with(line.split_whitespace(), &[("PLATEN_LOG__LEVEL", "trace")]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        output.push((format!("platen {line}"), [ran.out, ran.err].concat().into_bytes()));
    }
    for file in ["server.out", "server.err"] {
        output.push((file.to_owned(), fs::read(site.path(file)).unwrap()));
    }
    output.push(("the traces".to_owned(), format!("{:?}", collector.exports()).into_bytes()));
    output
}

/// A site whose every secret is a mark, logging all that can be logged.
fn marked(collector: &Collector) -> Site {
    let site = Site::new();
    site.configure(&format!("log.level = 'trace'\ntelemetry.otlp_endpoint = '{}'", collector.url));
    site.write("fleet.json", &marks::fleet());
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_line_metric_trace_or_answer_holds_a_credential_or_what_clients_sent() {
    let collector = Collector::start().await;
    let site = marked(&collector);
    let server = site.serve().await;
    let mut answers = Responses::default();
    requests::run_well(&server, &mut answers).await;
    requests::run_badly(&server, &mut answers).await;
    // Stores that fail name the cause in the log; PostgreSQL's own words about a row repeat the row.
    refuse_rows(&site).await;
    requests::run_into_failures(&server, &mut answers).await;
    assert!(answers.count(500) >= 4, "{:?}", answers.statuses());
    if let Stores::PostgresAndS3 { s3, .. } = site.stores() {
        accept_rows(&site).await;
        s3.misbehave("", crate::support::setup::s3_server::Fault::Error, usize::MAX);
        requests::run_into_failures(&server, &mut answers).await;
        s3.behave();
    }
    refusals_are_recorded(&site).await;

    let mut output = told_by(&site, &server, &collector).await;
    server.stop();
    output.push(("server.err to its end".to_owned(), fs::read(site.path("server.err")).unwrap()));
    output.push(("all answers but files, infos and lists".to_owned(), answers.text().into_bytes()));
    let marks = Marks::all(&site);
    // The search finds what is there.
    assert!(output.iter().any(|(name, text)| name == "server.err" && text.len() > 10_000));
    assert!(String::from_utf8_lossy(&output[1].1).contains("***") || !site.is_on_postgres());
    for (name, text) in &output {
        marks.assert_none(name, text, Seen::Nowhere);
    }
}

async fn refusals_are_recorded(site: &Site) {
    let quiet = [("PLATEN_LOG__LEVEL", "off")];
    let recorded = async || site.run_with(["refusals", "--json"], &quiet).succeeded().contains("mis_key_invalid");
    eventually("the refusals are recorded", recorded).await;
}

/// From now on the database takes no new row of what clients send.
async fn refuse_rows(site: &Site) {
    for table in ["resource", "log_entry", "crash_part", "device_status"] {
        let sql = if site.is_on_postgres() {
            format!("ALTER TABLE {table} ADD CONSTRAINT none CHECK (false) NOT VALID")
        } else {
            format!(
                "CREATE TRIGGER none_{table} BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no row is taken'); END"
            )
        };
        site.sql(&sql).await;
    }
}

async fn accept_rows(site: &Site) {
    for table in ["resource", "log_entry", "crash_part", "device_status"] {
        site.sql(&format!("ALTER TABLE {table} DROP CONSTRAINT none")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_credentials_only_digests_are_stored() {
    // Decision A1.
    let collector = Collector::start().await;
    let site = marked(&collector);
    let server = site.serve().await;
    let mut answers = Responses::default();
    requests::run_well(&server, &mut answers).await;
    requests::run_badly(&server, &mut answers).await;
    refusals_are_recorded(&site).await;
    let marks = Marks::all(&site);
    let stored = Reader::of_everything(&site).await.read().await;
    for (table, _, row) in &stored.rows {
        marks.assert_none(&format!("a row of {table}"), row.as_bytes(), Seen::InStores);
    }
    for (path, content) in &stored.contents {
        marks.assert_none(&path.display().to_string(), content, Seen::InStores);
    }
    // The search finds what is there.
    let all: Vec<_> = stored.rows.iter().map(|(_, _, row)| row.as_str()).collect();
    assert!(all.join("\n").contains(marks::LOG) && !stored.contents.is_empty());
    server.stop();
    // Not even in pages that are free again.
    for path in files_below(&site.path("data")) {
        marks.assert_none(&path.display().to_string(), &fs::read(&path).unwrap(), Seen::InStores);
    }
}
