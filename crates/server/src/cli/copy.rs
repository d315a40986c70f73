//! `platen copy`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_blob::BlobConfig;
use adapters_db::{CopiedRecords, Database, RecordCopy, is_same_database};
use anyhow::{Context, Result, anyhow};
use domain::blob::{BlobReference, BlobStore, ContentTransfer, Transferred};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use secrecy::ExposeSecret;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Where contents come from and go to.
struct Blobs {
    source: Arc<dyn BlobStore>,
    target: Arc<dyn BlobStore>,
}

/// Contents by what became of them.
#[derive(Default)]
struct Contents {
    copied: u64,
    kept: u64,
    missing: u64,
    damaged: u64,
}

/// Copies from the configured stores into those of the configuration `to`. Both are migrated first, and kept
/// from others: what a server writes meanwhile would be lost or mixed up.
pub(super) async fn run(config: &Config, to: &Path) -> Result<ExitCode, Failure> {
    let target = Config::of_file(to).with_context(|| format!("target {}", to.display()));
    let target = target.map_err(Failure::Misuse)?;
    if matches!(target.blobs.place, BlobConfig::Memory) || target.database.url.expose_secret().contains(":memory:") {
        return Err(Failure::Misuse(anyhow!("target {}: nothing would be left of a copy in memory", to.display())));
    }
    let urls = [&config.database, &target.database].map(|section| section.url.expose_secret());
    if config.blobs.place.is_same_store(&target.blobs.place) {
        let is_same = is_same_database(urls[0], urls[1], wiring::DATABASE_TIMEOUT).await;
        if is_same.map_err(anyhow::Error::from)? {
            let same = "both sides use one database and one blob store: nothing would be copied";
            return Err(Failure::Misuse(anyhow!("target {}: {same}", to.display())));
        }
        output::warning(
            "both sides use one blob store: never serve or check the source again once the target is served",
        );
    }
    let from = wiring::open_database_alone(&config.database, Missing::Refuse).await.context("source")?;
    let copied = match copy(config, &target, &from).await {
        Ok(contents) => confirm_alone("source", &from).await.map(|()| contents),
        Err(error) => Err(error),
    };
    wiring::close(from).await;
    let contents = copied?;
    let whole = contents.missing == 0 && contents.damaged == 0;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn copy(config: &Config, target: &Config, from: &Database) -> Result<Contents> {
    let blobs = Blobs {
        source: wiring::open_blobs(&config.blobs).await.context("source")?,
        target: wiring::open_blobs_for_writing(&target.blobs).await.context("target")?,
    };
    let [source_url, target_url] = [&config.database, &target.database].map(|section| section.url.expose_secret());
    if is_same_database(source_url, target_url, wiring::DATABASE_TIMEOUT).await? {
        // Only the contents move: from a folder into a bucket, or from one bucket into another.
        let contents = transfer(from, blobs, &bar()).await?;
        output::line("records: both sides use the same database")?;
        contents.print()?;
        return Ok(contents);
    }
    let to = wiring::open_database_alone(&target.database, Missing::Make).await.context("target")?;
    let copied = copy_all(blobs, from, &to).await;
    wiring::close(to).await;
    copied
}

async fn confirm_alone(side: &str, database: &Database) -> Result<()> {
    let doubtful = || format!("{side}: others may have used it meanwhile; copy once more");
    database.confirm_alone().await.with_context(doubtful)
}

/// Compares first, which shows whether the target has other records. Then come the contents, before the
/// records that refer to them.
async fn copy_all(blobs: Blobs, from: &Database, to: &Database) -> Result<Contents> {
    let bar = bar();
    let report = |table: &str, records: CopiedRecords| {
        bar.set_message(format!("records of {table}: {}", records.copied + records.kept));
    };
    let records = RecordCopy::new(from, to, &report);
    let failed = "cannot copy the records";
    records.compare().await.context(failed)?;
    let contents = transfer(from, blobs, &bar).await?;
    let CopiedRecords { copied, kept } = records.insert().await.context(failed)?;
    confirm_alone("target", to).await?;
    bar.finish_and_clear();
    output::line(&format!("records: copied {copied}, there before {kept}"))?;
    contents.print()?;
    Ok(contents)
}

/// Copies the contents, printing those that can't be.
async fn transfer(from: &Database, blobs: Blobs, bar: &ProgressBar) -> Result<Contents> {
    let transfer = ContentTransfer::new(Arc::new(from.ledger()), blobs.source, blobs.target);
    let failed = "cannot copy the contents";
    let total = transfer.total().await.context(failed)?;
    bar.set_length(total.bytes);
    let mut contents = Contents::default();
    let mut printed = Ok(());
    let report = |reference: &BlobReference, transferred| {
        let mut tell = |what: &str| {
            let BlobReference { key, owner, .. } = reference;
            let line = bar.suspend(|| output::line(&format!("{what} {key} ({owner})")));
            printed = std::mem::replace(&mut printed, Ok(())).and(line);
        };
        match transferred {
            Transferred::Copied => contents.copied += 1,
            Transferred::Kept => contents.kept += 1,
            Transferred::Missing => {
                contents.missing += 1;
                tell("missing");
            }
            Transferred::Damaged => {
                contents.damaged += 1;
                tell("damaged");
            }
        }
        bar.inc(reference.size);
        bar.set_message(format!("{} of {} contents", contents.done(), total.contents));
    };
    transfer.run(report).await.context(failed)?;
    printed?;
    Ok(contents)
}

impl Contents {
    fn print(&self) -> Result<()> {
        let Self { copied, kept, missing, damaged } = self;
        let summary = format!("contents: copied {copied}, there before {kept}, missing {missing}, damaged {damaged}");
        output::line(&summary)
    }

    fn done(&self) -> u64 {
        self.copied + self.kept + self.missing + self.damaged
    }
}

/// A bar on stderr, where that is a terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {msg}");
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    if let Ok(style) = style { bar.with_style(style) } else { bar }
}
