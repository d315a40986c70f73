//! The rows of the table, in its order. Each module measures those of one kind of work.

mod console;
mod downloads;
mod instructions;
mod memory;
mod records;
mod s3;
mod scale;
mod sqlite;
mod uploads;

pub(crate) use console::Times;
pub(crate) use scale::Costs;

use crate::load::Scenario;
use crate::platen::Platen;
use crate::samples::paired;
use crate::stage::{Stage, say};
use crate::table::{Goal, Row};
use anyhow::Result;
use std::sync::Arc;

/// All names, in the order of the table.
pub(crate) const NAMES: &[&str] = &[
    "log-pg-64",
    "log-pg-64-indexed",
    "log-pg-1",
    "log-sqlite-64",
    "log-sqlite-64-indexed",
    "status-pg-64",
    "info-32",
    "download-4k",
    "download-1m",
    "download-64m",
    "upload-256m",
    "s3-upload-1m",
    "s3-download-1m",
    "s3-download-1m-again",
    "scale-info",
    "scale-pmm",
    "scale-list",
    "scale-list-all",
    "console-overview",
    "console-devices",
    "console-logs",
    "console-logs-text",
    "console-crashes",
    "console-resources",
    "console-computers",
    "console-refusals",
    "memory-idle",
    "memory-peak",
    "instructions-log",
    "instructions-info",
];

/// Measures the requested rows. A row that fails is reported and left out. Returns the rows and the number of failures.
pub(crate) async fn all(stage: &Stage) -> (Vec<Row>, usize) {
    let mut rows = Vec::new();
    let mut failures = 0;
    let wanted: Vec<_> = NAMES.iter().copied().filter(|name| stage.arguments.wants(name)).collect();
    for name in wanted {
        say(&format!("== {name}"));
        match one(stage, name).await {
            Ok(row) => rows.push(row),
            Err(error) => {
                failures += 1;
                say(&format!("{name} failed: {error:#}"));
            }
        }
    }
    (rows, failures)
}

async fn one(stage: &Stage, name: &'static str) -> Result<Row> {
    match name {
        "log-pg-64" => records::logs(stage, name, 64, records::Table::Plain, Goal::AtLeast(0.9)).await,
        "log-pg-64-indexed" => records::logs(stage, name, 64, records::Table::Indexed, Goal::AtLeast(1.1)).await,
        "log-pg-1" => records::logs(stage, name, 1, records::Table::Plain, Goal::AtLeast(0.3)).await,
        "log-sqlite-64" => sqlite::logs(stage, name, records::Table::Plain, Goal::AtLeast(3.0)).await,
        "log-sqlite-64-indexed" => sqlite::logs(stage, name, records::Table::Indexed, Goal::None).await,
        "status-pg-64" => records::statuses(stage, name).await,
        "info-32" => records::infos(stage, name).await,
        "download-4k" => downloads::row(stage, name, 4 * 1024, 1, 32, 0.25).await,
        "download-1m" => downloads::row(stage, name, 1024 * 1024, 1, 8, 0.7).await,
        "download-64m" => downloads::row(stage, name, 1024 * 1024, 64, 2, 0.8).await,
        "upload-256m" => uploads::row(stage, name).await,
        "s3-upload-1m" => s3::upload(stage, name).await,
        "s3-download-1m" => s3::download(stage, name, s3::BEYOND_MEMORY).await,
        "s3-download-1m-again" => s3::download(stage, name, s3::WITHIN_MEMORY).await,
        "scale-info" | "scale-pmm" | "scale-list" | "scale-list-all" => scale::row(stage, name).await,
        _ if name.starts_with("console-") => console::row(stage, name).await,
        "memory-idle" => memory::idle(stage, name).await,
        "memory-peak" => memory::peak(stage, name),
        "instructions-log" => instructions::logs(stage, name).await,
        _ => instructions::infos(stage, name).await,
    }
}

/// A work measured in requests a second.
struct Rated<'a> {
    name: &'static str,
    work: String,
    clients: usize,
    scenario: Arc<dyn Scenario>,
    server: &'a Platen,
    /// What else works for the server, for the note.
    watched: &'a [(&'static str, u32)],
    /// What the reference is.
    reference: String,
    goal: Goal,
}

impl Rated<'_> {
    /// Measures it in turn with its reference.
    async fn against(self, stage: &Stage, mut reference: impl AsyncFnMut() -> Result<f64>) -> Result<Row> {
        let mut note = String::new();
        let product = async || {
            let (load, seen) = stage.load(self.server, self.watched, self.clients, Arc::clone(&self.scenario)).await?;
            say(&format!("   platen {:.0}/s; {seen}", load.per_second));
            note = seen;
            Ok(load.per_second)
        };
        let output = async || {
            let rate = reference().await?;
            say(&format!("   reference {rate:.0}/s"));
            Ok(rate)
        };
        let pairs = paired(stage.arguments.runs(), product, output).await?;
        let Self { name, work, reference, goal, .. } = self;
        Ok(Row { name, work, unit: "/s", pairs, reference, goal, note })
    }
}
