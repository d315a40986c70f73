//! Log entries over SQLite, against one-row commits of the `sqlite3` program.

use super::{Rated, records};
use crate::process::run;
use crate::requests;
use crate::rows::records::Table;
use crate::scenarios::{Expected, Prepared};
use crate::stage::Stage;
use crate::table::{Goal, Row};
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Rows that the reference commits in a run of so many seconds, about.
const ROWS_A_SECOND: usize = 4000;

pub(super) async fn logs(stage: &Stage, name: &'static str, table: Table, goal: Goal) -> Result<Row> {
    const CLIENTS: usize = 64;
    let server = stage.on_sqlite().await?;
    records::send(&server, |out| requests::add_log(out, 1)).await?;
    let folder = stage.folder("sqlite")?;
    let rows = ROWS_A_SECOND * usize::try_from(stage.arguments.seconds())?;
    let script = folder.join("script.sql");
    fs::write(&script, reference(&server.sqlite_file(), table, rows)?)?;
    let rated = Rated {
        name,
        work: format!("log intake, SQLite with full sync, {CLIENTS} clients"),
        clients: CLIENTS,
        scenario: Prepared::numbered(records::VARIETY, Expected::Body(requests::LOG_ADDED), requests::add_log),
        server: &server,
        watched: &[],
        reference: format!("sqlite3, WAL and synchronous = FULL, one connection, one-row commits: {}", table.text()),
        goal,
    };
    rated.against(stage, async || commit_all(&folder, &script, rows)).await
}

/// The script of the reference: the product's table, then the same row of its own so many times, each
/// a transaction.
fn reference(product: &Path, table: Table, rows: usize) -> Result<String> {
    let ask = |sql: &str| run(Command::new("sqlite3").args(["-readonly", "-bail"]).arg(product).arg(sql));
    let mut script = String::from("PRAGMA journal_mode = WAL;\nPRAGMA synchronous = FULL;\n");
    let kinds = if matches!(table, Table::Indexed) { "'table', 'index'" } else { "'table'" };
    script.push_str(&ask(&format!(
        "SELECT sql || ';' FROM sqlite_master
         WHERE tbl_name = 'log_entry' AND sql IS NOT NULL AND type IN ({kinds}) ORDER BY type DESC"
    ))?);
    let columns = ask("SELECT group_concat(name, ', ') FROM pragma_table_info('log_entry') WHERE name <> 'id'")?;
    let values = ask(&format!("SELECT {} FROM log_entry LIMIT 1", quoted(&columns)))?;
    ensure!(!values.trim().is_empty(), "no row in log_entry");
    for _ in 0..rows {
        writeln!(script, "INSERT INTO log_entry ({}) VALUES ({});", columns.trim(), values.trim())?;
    }
    Ok(script)
}

/// An expression that gives the columns as SQL literals separated by commas.
fn quoted(columns: &str) -> String {
    let columns: Vec<String> = columns.trim().split(", ").map(|column| format!("quote({column})")).collect();
    columns.join(" || ', ' || ")
}

/// Commits a second of the script over a new file.
fn commit_all(folder: &Path, script: &Path, rows: usize) -> Result<f64> {
    let file = folder.join("reference.db");
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(folder.join(format!("reference.db{suffix}"))));
    }
    let begun = Instant::now();
    let status = Command::new("sqlite3")
        .args(["-batch", "-bail"])
        .arg(&file)
        .stdin(fs::File::open(script)?)
        .stdout(std::process::Stdio::null())
        .status()
        .context("running sqlite3")?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(status.success(), "sqlite3 ended with {status}");
    let stored = run(Command::new("sqlite3").arg(&file).arg("SELECT count(*) FROM log_entry"))?;
    ensure!(stored.trim() == rows.to_string(), "{} rows instead of {rows}", stored.trim());
    Ok(rows as f64 / seconds)
}
