//! What the commands have in common that show what came in. They read and change nothing.

use super::failure::Failure;
use super::output::{Out, ReaderGone};
use super::values;
use crate::config::Config;
use crate::wiring;
use adapters_db::Database;
use anyhow::{Result, bail};
use clap::Args;
use domain::caller::OrganizationId;
use domain::inspection::{InspectionRepository, RegisteredOrganization};
use domain::timestamp::Timestamp;
use std::io::{BufWriter, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// Bytes of an answer that are written together.
const BUFFER: usize = 64 * 1024;

/// Whose records are shown, and how.
#[derive(Debug, Args)]
pub(super) struct Look {
    /// Only this organization
    #[arg(long, value_name = "NAME")]
    pub(super) organization: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub(super) json: bool,
}

/// Times of receipt, both inclusive (decision L6).
#[derive(Debug, Args)]
pub(super) struct Period {
    /// Only from this time on: 2026-05-04T07:00:00Z, 2026-05-04, today, or 2h for two hours ago; days are those of UTC
    #[arg(long, value_name = "TIME", value_parser = values::from)]
    from: Option<Timestamp>,
    /// Only up to this time; a day is included
    #[arg(long, value_name = "TIME", value_parser = values::to)]
    to: Option<Timestamp>,
    /// Only of the last while, such as 90s, 30m, 1h or 2d
    #[arg(long, value_name = "DURATION", value_parser = values::since, conflicts_with = "from")]
    since: Option<Duration>,
}

impl Period {
    pub(super) fn bounds(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let since = self.since.map(values::ago);
        (self.from.or(since), self.to)
    }
}

/// Opens the database, calls `work` and closes the database. A reader of stdout that goes away early, as `head` does, is
/// no failure.
pub(super) async fn look(
    config: &Config,
    work: impl AsyncFnOnce(&Database, &mut Out<'_>) -> Result<()>,
) -> Result<ExitCode, Failure> {
    let database = wiring::open_unchanged(&config.database).await?;
    let mut stdout = BufWriter::with_capacity(BUFFER, stdout());
    let mut out = Out::new(&mut stdout);
    let done = work(&database, &mut out).await;
    // The output before a failure comes before its error.
    let shown = out.flush();
    wiring::close(database).await;
    match done.and(shown) {
        Err(error) if !error.is::<ReaderGone>() => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The organizations whose records are shown.
pub(super) struct Register(Vec<RegisteredOrganization>);

impl Register {
    /// All of them, or the one that is named, which must be registered.
    pub(super) async fn read(inspection: &dyn InspectionRepository, name: Option<&str>) -> Result<Self> {
        let found = inspection.organizations(name.map(str::to_owned)).await?;
        match name {
            Some(name) if found.is_empty() => bail!("organization \"{name}\" is not registered"),
            _ => Ok(Self(found)),
        }
    }

    /// By name.
    pub(super) fn organizations(&self) -> &[RegisteredOrganization] {
        &self.0
    }

    pub(super) fn ids(&self) -> Vec<OrganizationId> {
        self.0.iter().map(|organization| organization.id).collect()
    }

    pub(super) fn knows(&self, id: OrganizationId) -> bool {
        self.find(id).is_some()
    }

    /// The name of an organization; empty for others.
    pub(super) fn name(&self, id: OrganizationId) -> &str {
        self.find(id).map_or("", |organization| &organization.name)
    }

    fn find(&self, id: OrganizationId) -> Option<&RegisteredOrganization> {
        self.0.iter().find(|organization| organization.id == id)
    }
}
