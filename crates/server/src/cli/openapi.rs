//! `platen openapi`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use http_actix::openapi;
use std::process::ExitCode;

/// Prints the document that a server of this configuration serves.
pub(super) fn run(config: &Config, of_operators: bool) -> Result<ExitCode, Failure> {
    let base_path = &config.http.base_path;
    let document =
        if of_operators { operator_actix::openapi::document(base_path) } else { openapi::document(base_path) };
    output::line(&document)?;
    Ok(ExitCode::SUCCESS)
}
