//! What the commands have in common that show what came in. They read and change nothing.

use super::failure::Failure;
use super::output::{Out, ReaderGone};
use super::values;
use crate::config::Config;
use crate::wiring;
use adapters_db::Database;
use anyhow::Result;
use clap::Args;
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
