//! `platen openapi`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use http_actix::openapi;
use std::process::ExitCode;

/// Prints the document that a server of this configuration serves.
pub(super) fn run(config: &Config) -> Result<ExitCode, Failure> {
    output::line(&openapi::document(&config.http.base_path))?;
    Ok(ExitCode::SUCCESS)
}
