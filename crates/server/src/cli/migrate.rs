//! `platen migrate`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use crate::wiring::{self, Missing};
use std::process::ExitCode;

pub(super) async fn run(config: &Config) -> Result<ExitCode, Failure> {
    let (database, migrated) = wiring::open_database(&config.database, Missing::Make).await?;
    wiring::close(database).await;
    output::line(&wiring::told(migrated))?;
    Ok(ExitCode::SUCCESS)
}
