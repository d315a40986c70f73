//! `platen demo`

use super::failure::Failure;
use super::table::escape_json;
use super::{output, serve};
use crate::config::Config;
use crate::demo::{self, Demo, Plan};
use crate::wiring::{self, Missing};
use adapters_blob::BlobConfig;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct DemoArguments {
    /// Serve it from a folder that is removed at the end, and go on with it; the configured database stays untouched
    #[arg(long)]
    serve: bool,
    /// What the data follow from: the same number makes the same fleet
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

pub(super) async fn run(config: &mut Config, arguments: DemoArguments) -> Result<ExitCode, Failure> {
    let (limits, max_dump) = (config.limits, config.insight.max_dump);
    let plan = Plan { seed: arguments.seed, now: wiring::clock().now(), limits, max_dump };
    if !arguments.serve {
        let demo = fill(config, plan).await?;
        announce(&demo, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = tempfile::Builder::new().prefix("platen-demo-").tempdir().context("cannot make a folder")?;
    config.database.url = format!("sqlite://{}", folder.path().join("platen.db").display()).into();
    config.blobs.place = BlobConfig::Local { path: folder.path().join("blobs") };
    let demo = fill(config, plan).await?;
    let served = serve::run_demo(config, demo).await;
    folder.close().context("cannot remove the folder of the demo")?;
    served
}

async fn fill(config: &Config, plan: Plan) -> Result<Demo> {
    let (database, _) = wiring::open_database(&config.database, Missing::Make).await?;
    let filled = async {
        demo::require_empty(&database).await?;
        let blobs = wiring::open_blobs_for_writing(&config.blobs).await?;
        demo::fill(&database, &blobs, plan).await
    };
    let filled = filled.await;
    wiring::close(database).await;
    filled
}

/// Prints the operator's name and password, and the address if it is served.
pub(super) fn announce(demo: &Demo, console: Option<&str>) -> Result<()> {
    let line = json!({
        "console": console,
        "operator": demo.operator.name,
        "password": demo.password.as_password().reveal(),
    });
    output::secret_line(&escape_json(&line.to_string())).context("the password of the demo is lost")
}
