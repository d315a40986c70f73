//! `platen copy`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use crate::wiring;
use adapters_db::{CopiedRecords, Database, RecordCopy};
use anyhow::{Context, Result};
use domain::blob::{BlobReference, BlobStore, ContentTransfer, Transferred};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Contents by what became of them.
#[derive(Default)]
struct Contents {
    copied: u64,
    kept: u64,
    missing: u64,
    damaged: u64,
}

/// Copies from the configured stores into those of the configuration `to`. Both are migrated first.
/// Whoever writes to one of them meanwhile would be forgotten or mixed up, so neither may be in use.
pub(super) async fn run(config: &Config, to: &Path) -> Result<ExitCode, Failure> {
    let target = Config::of_file(to).with_context(|| format!("target {}", to.display()));
    let target = target.map_err(Failure::Misuse)?;
    let from = wiring::open_database_alone(&config.database).await.context("source")?;
    let copied = match wiring::open_database_alone(&target.database).await.context("target") {
        Ok(to) => {
            let copied = copy(config, &target, &from, &to).await;
            wiring::close(to).await;
            copied
        }
        Err(error) => Err(error),
    };
    wiring::close(from).await;
    let contents = copied?;
    let whole = contents.missing == 0 && contents.damaged == 0;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn copy(config: &Config, target: &Config, from: &Database, to: &Database) -> Result<Contents> {
    let source_blobs = wiring::open_blobs(&config.blobs).await?;
    let target_blobs = wiring::open_blobs(&target.blobs).await.context("target")?;
    let bar = bar();
    let report = |table: &str, records: CopiedRecords| {
        bar.set_message(format!("{table}: {} records", records.copied + records.kept));
    };
    let records = RecordCopy::new(from, to, &report);
    let failed = "cannot copy the records";
    // The fleet first: it shows whether the target belongs to somebody else. Then contents, before the
    // records that refer to them.
    let mut all = records.fleet().await.context(failed)?;
    let contents = transfer(from, source_blobs, target_blobs, &bar).await?;
    all += records.records().await.context(failed)?;
    bar.finish_and_clear();
    output::line(&format!("records: copied {}, there before {}", all.copied, all.kept))?;
    let Contents { copied, kept, missing, damaged } = contents;
    let told = format!("contents: copied {copied}, there before {kept}, missing {missing}, damaged {damaged}");
    output::line(&told)?;
    Ok(contents)
}

/// Copies the contents, printing those that can't be.
async fn transfer(
    from: &Database,
    source: Arc<dyn BlobStore>,
    target: Arc<dyn BlobStore>,
    bar: &ProgressBar,
) -> Result<Contents> {
    let transfer = ContentTransfer::new(Arc::new(from.ledger()), source, target);
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
