//! `platen crashes analyze`

use crate::cli::failure::Failure;
use crate::cli::output;
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::{Context, Result};
use domain::audit::{AuditAction, AuditRepository, AuditedValue};
use domain::crash_analysis::{CrashAnalysisService, Requeue};
use domain::crash_signature::ALGORITHM;
use domain::operator::Scope;
use std::process::ExitCode;

/// Analyzes reports again: those with an older version of the rules and those that failed, or all (decision I5).
pub(super) async fn run(config: &Config, all: bool) -> Result<ExitCode, Failure> {
    let (database, _) = wiring::open_database(&config.database, Missing::Refuse).await?;
    let done = match wiring::open_blobs(&config.blobs).await {
        Ok(blobs) => match wiring::crash_analysis(&database, &blobs, &config.insight) {
            Ok(service) => match record(&database, all).await {
                Ok(()) => analyze(&service, all).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    wiring::close(database).await;
    let has_failed = done?;
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Records who lets reports be analyzed again, which may move them between groups (decision P9).
async fn record(database: &Database, all: bool) -> Result<()> {
    let which = if all { "all" } else { "older or failed" };
    let values = vec![AuditedValue::added("reports", which)];
    let action = AuditAction::CrashReportsRequeued;
    let record = wiring::actor().record(wiring::clock().now(), action, Scope::All, "crash reports".to_owned(), values);
    database.audit().add(&record).await.context("cannot record the analysis")
}

/// Analyzes the reports and prints the counts. Returns whether some report has no signature.
async fn analyze(service: &CrashAnalysisService, all: bool) -> Result<bool> {
    let which = if all { Requeue::All } else { Requeue::Older { than: ALGORITHM } };
    service.requeue(which).await.context("cannot queue the reports")?;
    let (mut analyzed, mut failed, mut postponed) = (0, 0, 0);
    loop {
        let progress = service.round().await.context("cannot analyze crash reports")?;
        analyzed += progress.analyzed;
        failed += progress.failed;
        postponed += progress.postponed;
        if !progress.has_more {
            break;
        }
    }
    output::line(&format!("analyzed {analyzed}, failed {failed}, postponed {postponed}"))?;
    Ok(failed + postponed > 0)
}
