//! How commands fail: one line on stderr and the exit code.

use super::output::error_line;
use super::table::visible;
use clap::error::ErrorKind;
use domain::error::error_chain;
use std::process::ExitCode;

/// Wrong usage, configuration or fleet file.
const MISUSE: u8 = 2;

/// Why a command failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The operator's input is at fault: exit code 2.
    Misuse(anyhow::Error),
    /// Anything else: exit code 1.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

impl Failure {
    /// Tells stderr why, with all error_chain, and gives the exit code.
    pub(super) fn report(&self) -> ExitCode {
        let (error, code) = match self {
            Self::Misuse(error) => (error, ExitCode::from(MISUSE)),
            Self::Other(error) => (error, ExitCode::FAILURE),
        };
        tell(&format!("error: {}", one_line(&error_chain(error.as_ref()))));
        code
    }
}

/// Tells stderr what is wrong with the command line; whoever names no command is shown them before.
/// `command` is the one whose help is named.
pub(super) fn report_usage(error: &clap::Error, command: &str) -> ExitCode {
    if let Some(help) = help(error) {
        error_line(&help);
    }
    tell(&usage_line(error, command));
    ExitCode::from(MISUSE)
}

/// The help that clap gives instead of an error.
pub(super) fn help(error: &clap::Error) -> Option<String> {
    (error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand).then(|| error.render().to_string())
}

/// What clap says, in one line: without the usage, which `--help` shows.
pub(super) fn usage_line(error: &clap::Error, command: &str) -> String {
    if help(error).is_some() {
        return format!("error: a command is required (see {command} --help)");
    }
    let told = error.render().to_string();
    let told = told.split("Usage:").next().unwrap_or_default();
    let told = told.split("For more information").next().unwrap_or_default();
    let paragraphs: Vec<String> = told.trim().split("\n\n").map(one_line).collect();
    format!("{} (see {command} --help)", paragraphs.join("; "))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tell(line: &str) {
    // Names of records may be told, which anybody may have chosen.
    error_line(&visible(line));
}
