//! Instructions of one warm request, counted by valgrind: comparable on any machine.
//!
//! The server runs under `callgrind` twice, answering a script of N and of 2 N requests of one client
//! over PostgreSQL; the difference is that of N warm requests, start and drain taken out.

use super::records;
use crate::load;
use crate::platen::{Blobs, Database, Platen};
use crate::requests;
use crate::rows::scale;
use crate::samples::{Pairs, Samples};
use crate::scenarios::{Expected, Prepared};
use crate::stage::{Stage, say};
use crate::table::{Goal, Row};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Requests before any that counts.
const WARM: u64 = 50;

pub(super) async fn logs(stage: &Stage, name: &'static str) -> Result<Row> {
    let scenario = Prepared::numbered(records::VARIETY, Expected::Body(requests::LOG_ADDED), requests::add_log);
    row(stage, name, "one warm log request", &scenario).await
}

pub(super) async fn infos(stage: &Stage, name: &'static str) -> Result<Row> {
    scale::fill(&*stage.postgres().await?, &*stage.on_postgres().await?, scale::FEW).await?;
    row(stage, name, "one warm info request", &scale::info_requests(scale::FEW)).await
}

async fn row(stage: &Stage, name: &'static str, work: &str, scenario: &Arc<Prepared>) -> Result<Row> {
    let requests: u64 = if stage.arguments.quick { 200 } else { 1000 };
    let mut product = Samples::default();
    for _ in 0..stage.arguments.runs() {
        let short = counted(stage, name, WARM + requests, scenario).await?;
        let long = counted(stage, name, WARM + 2 * requests, scenario).await?;
        let each = (long - short) / requests as f64;
        say(&format!("   {each:.0} instructions"));
        product.push(each);
    }
    Ok(Row {
        name,
        work: format!("instructions of {work}, 1 client, PostgreSQL"),
        unit: "",
        pairs: Pairs { product, reference: Samples::default() },
        reference: String::new(),
        goal: Goal::None,
        note: "server process in user mode only".to_owned(),
    })
}

/// Instructions of a server's whole life with so many requests.
async fn counted(stage: &Stage, name: &str, requests: u64, scenario: &Arc<Prepared>) -> Result<f64> {
    let database = Database::Postgres(stage.postgres().await?.url());
    let folder = stage.folder(name)?;
    let counts = folder.join("callgrind.out");
    let mut setup = stage.setup(database, Blobs::Local);
    let option = format!("--callgrind-out-file={}", counts.display());
    setup.under = vec!["valgrind".to_owned(), "--tool=callgrind".to_owned(), option];
    let mut server = Platen::start(&setup, &folder).await?;
    load::each(server.address, requests, &**scenario).await?;
    server.end()?;
    total(&counts)
}

/// Reads `totals: 123` or `summary: 123`.
fn total(counts: &Path) -> Result<f64> {
    let text = fs::read_to_string(counts).context("valgrind wrote no counts")?;
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    Ok(line.context("no total in the counts")?.trim().parse()?)
}
