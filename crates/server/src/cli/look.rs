//! What the commands have in common that look at what came in: they read, and change nothing.

use super::failure::Failure;
use super::output::{Out, ReaderGone};
use super::table::visible_json;
use crate::config::Config;
use crate::wiring;
use adapters_db::Database;
use anyhow::{Result, bail};
use clap::Args;
use domain::inspection::{InspectionRepository, RegisteredOrganization};
use serde_json::Value;
use std::io::{BufWriter, stdout};
use std::process::ExitCode;

/// Bytes of an answer that are written together.
const BUFFER: usize = 64 * 1024;

/// Whose records are looked at, and how they are shown.
#[derive(Debug, Args)]
pub(super) struct Look {
    /// Only this organization
    #[arg(long, value_name = "NAME")]
    pub(super) organization: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub(super) json: bool,
}

/// Opens the database, lets `work` answer from it, and closes it. A reader of the answer who has read enough ends
/// it in order.
pub(super) async fn look(
    config: &Config,
    work: impl AsyncFnOnce(&Database, &mut Out<'_>) -> Result<()>,
) -> Result<ExitCode, Failure> {
    let database = wiring::open_unchanged(&config.database).await?;
    let mut stdout = BufWriter::with_capacity(BUFFER, stdout());
    let mut out = Out::new(&mut stdout);
    let done = work(&database, &mut out).await;
    // What was answered before a failure is shown before it is told.
    let shown = out.flush();
    wiring::close(database).await;
    match done.and(shown) {
        Err(error) if !error.is::<ReaderGone>() => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The organizations that are asked for; one that is named must be registered.
pub(super) async fn organizations(
    inspection: &dyn InspectionRepository,
    name: Option<&str>,
) -> Result<Vec<RegisteredOrganization>> {
    let found = inspection.organizations(name.map(str::to_owned)).await?;
    match name {
        Some(name) if found.is_empty() => bail!("organization \"{name}\" is not registered"),
        _ => Ok(found),
    }
}

/// A value as a line of JSON.
pub(super) fn json_line(out: &mut Out<'_>, value: &Value) -> Result<()> {
    out.line(&visible_json(&value.to_string()))
}
