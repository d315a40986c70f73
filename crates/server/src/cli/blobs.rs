//! `platen blobs check`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::{Context, Result};
use clap::Subcommand;
use domain::audit::{AuditAction, AuditRepository, AuditedValue};
use domain::blob::{BlobMaintenance, BlobReference, CheckReport, Finding};
use domain::operator::Scope;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum BlobsCommand {
    /// Compare database and blob store: missing and damaged content, orphans
    Check {
        /// Remove orphans older than 24 hours
        #[arg(long)]
        repair: bool,
    },
}

pub(super) async fn run(config: &Config, command: BlobsCommand) -> Result<ExitCode, Failure> {
    let BlobsCommand::Check { repair } = command;
    let (database, _) = wiring::open_database(&config.database, Missing::Refuse).await?;
    let checked = check_and_record(config, &database, repair).await;
    wiring::close(database).await;
    let report = checked?;
    let whole = report.missing == 0 && report.damaged == 0;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn check_and_record(config: &Config, database: &Database, repair: bool) -> Result<CheckReport> {
    let blobs = wiring::open_blobs(&config.blobs).await?;
    let maintenance = wiring::uploads(database, &blobs).maintenance(config.blobs.discarded_grace);
    let report = check(&maintenance, repair).await?;
    if report.removed > 0 {
        let values = vec![AuditedValue::removed("orphans", report.removed.to_string())];
        let (at, target) = (wiring::clock().now(), "blob store".to_owned());
        let record = wiring::actor().record(at, AuditAction::OrphansRemoved, Scope::All, target, values);
        database.audit().add(&record).await.context("cannot record the removal")?;
    }
    Ok(report)
}

/// Prints each finding as it is made and a summary at the end.
async fn check(maintenance: &BlobMaintenance, repair: bool) -> Result<CheckReport> {
    let mut printed = Ok(());
    let print = |finding: &Finding| {
        if printed.is_ok() {
            printed = output::line(&line(finding));
        }
    };
    let report = maintenance.check(repair, print).await.context("cannot compare database and blob store")?;
    printed?;
    output::line(&format!(
        "checked {}, missing {}, damaged {}, orphans {}, removed {}",
        report.checked, report.missing, report.damaged, report.orphans, report.removed
    ))?;
    Ok(report)
}

fn line(finding: &Finding) -> String {
    let claim = |BlobReference { key, size, checksum, owner }: &BlobReference| {
        format!("{key} ({owner}: {size} bytes, SHA1 {checksum})")
    };
    match finding {
        Finding::Missing(reference) => format!("missing {}", claim(reference)),
        Finding::Damaged(reference) => format!("damaged {}", claim(reference)),
        Finding::Orphan { entry, removed } => {
            let kept = if *removed { "removed" } else { "kept" };
            format!("orphan {} ({} bytes, of {}, {kept})", entry.key, entry.size, entry.modified)
        }
    }
}
