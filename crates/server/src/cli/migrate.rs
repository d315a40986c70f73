//! `platen migrate`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use crate::wiring::{self, Missing};
use std::process::ExitCode;

pub(super) async fn run(config: &Config) -> Result<ExitCode, Failure> {
    let missing_file = wiring::missing_file(&config.database);
    let (database, migrated) = wiring::open_database(&config.database, Missing::Make).await?;
    wiring::close(database).await;
    if let Some(file) = missing_file {
        output::note_new_database(&file);
    }
    output::line(&wiring::migration_summary(migrated))?;
    Ok(ExitCode::SUCCESS)
}
