//! Options and helpers of the commands that show records. These commands change nothing.

use super::failure::Failure;
use super::output::{Out, OutputClosed};
use super::table::Screen;
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

/// Size of the output buffer in bytes.
const BUFFER: usize = 64 * 1024;

/// The organization of the records, and the form of the output.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct QueryOptions {
    /// Only this organization
    #[arg(long, value_name = "NAME")]
    pub(super) organization: Option<String>,
    /// Write one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
}

/// The limit of a list.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Limit {
    /// Show at most this many records, the first of the list
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

impl Limit {
    pub(super) fn get(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }
}

/// Times of receipt, both inclusive (decision L6).
#[derive(Debug, Args)]
pub(super) struct TimeRange {
    /// Only from this time on: 2026-05-04T07:00:00Z, 2026-05-04, today, or 2h for two hours ago; days are those of UTC
    #[arg(long, value_name = "TIME", value_parser = values::from)]
    from: Option<Timestamp>,
    /// Only up to this time; a day is included
    #[arg(long, value_name = "TIME", value_parser = values::to)]
    to: Option<Timestamp>,
    /// Only records of this last period, such as 90s, 30m, 1h or 2d
    #[arg(long, value_name = "DURATION", value_parser = values::duration, conflicts_with = "from")]
    since: Option<Duration>,
}

impl TimeRange {
    pub(super) fn bounds(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let since = self.since.map(|since| wiring::clock().now().minus(since));
        (self.from.or(since), self.to)
    }
}

/// Opens the database, calls `work` and closes the database. A reader of stdout that ends early, as `head` does, is no
/// failure.
pub(super) async fn run(
    config: &Config,
    work: impl AsyncFnOnce(&Database, &mut Out<'_>) -> Result<()>,
) -> Result<ExitCode, Failure> {
    let database = wiring::open_unchanged(&config.database).await?;
    let mut stdout = BufWriter::with_capacity(BUFFER, stdout());
    let mut out = Out::new(&mut stdout, Screen::of_stdout());
    let done = work(&database, &mut out).await;
    // The output before a failure comes before its error.
    let written = out.flush();
    wiring::close(database).await;
    match done.and(written) {
        Err(error) if !error.is::<OutputClosed>() => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
