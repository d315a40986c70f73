//! `platen healthcheck`

use super::failure::Failure;
use crate::config::Config;
use crate::listen;
use anyhow::{Context, Result, bail};
use std::process::ExitCode;
use std::time::Duration;

/// Longer than the server's own checks take at most, shorter than what containers wait.
const TIMEOUT: Duration = Duration::from_secs(8);

pub(super) async fn run(config: &Config) -> Result<ExitCode, Failure> {
    let address = listen::running(&config.ops, "ops")?;
    ask(&format!("http://{address}/health/ready")).await?;
    Ok(ExitCode::SUCCESS)
}

async fn ask(url: &str) -> Result<()> {
    // A proxy that the environment names is meant for requests to the outside.
    let client = reqwest::Client::builder().timeout(TIMEOUT).no_proxy().build().context("cannot ask the server")?;
    let answer = client.get(url).send().await.map_err(reqwest::Error::without_url);
    let answer = answer.with_context(|| format!("the server does not answer at {url}"))?;
    let status = answer.status();
    if !status.is_success() {
        let reason = answer.text().await.unwrap_or_default();
        bail!("the server is not ready: {url} answers {status}: {reason}");
    }
    Ok(())
}
