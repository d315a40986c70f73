//! `platen completions` and `platen man`: what the command line says of itself to shells and readers.

use super::failure::Failure;
use super::output;
use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Prints the completions for a shell.
pub(super) fn completions(mut command: Command, shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "platen", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the page of the program, or writes a page for each command into a folder, which it creates.
pub(super) fn man(command: Command, folder: Option<&Path>) -> Result<ExitCode, Failure> {
    if let Some(folder) = folder {
        let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
        written.with_context(|| format!("cannot write to {}", folder.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("cannot write the page")?;
    output::line(String::from_utf8_lossy(&page).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
