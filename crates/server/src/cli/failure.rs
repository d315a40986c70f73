//! How commands fail: one line on stderr and the exit code.

use super::output::error_line;
use super::table::escape;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use domain::error::error_chain;
use std::error::Error;
use std::process::ExitCode;

/// Wrong usage, configuration or fleet file.
const MISUSE: u8 = 2;

/// Why a command failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The operator's input is wrong: exit code 2.
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
    /// Prints the error with its causes to stderr and returns the exit code.
    pub(super) fn report(&self) -> ExitCode {
        let (error, code) = match self {
            Self::Misuse(error) => (error, ExitCode::from(MISUSE)),
            Self::Other(error) => (error, ExitCode::FAILURE),
        };
        print(&format!("error: {}", one_line(&error_chain(error.as_ref()))));
        code
    }
}

/// Prints to stderr what is wrong with the command line; before it the help, if no command is given. `command` is the
/// one whose help is named.
pub(super) fn report_usage(error: &clap::Error, command: &str) -> ExitCode {
    if let Some(help) = help(error) {
        error_line(&help);
    }
    print(&usage_line(error, command));
    ExitCode::from(MISUSE)
}

/// The help that clap gives instead of an error.
pub(super) fn help(error: &clap::Error) -> Option<String> {
    (error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand).then(|| error.render().to_string())
}

/// What is wrong with the command line, in one line.
pub(super) fn usage_line(error: &clap::Error, command: &str) -> String {
    let of = |kind| error.get(kind).map(text).unwrap_or_default();
    let (argument, value) = (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    let problem = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is required".to_owned(),
        ErrorKind::MissingSubcommand => format!("'{command}' requires a subcommand"),
        ErrorKind::InvalidSubcommand => format!("unrecognized subcommand '{}'", of(ContextKind::InvalidSubcommand)),
        ErrorKind::UnknownArgument => format!("unexpected argument '{argument}'"),
        ErrorKind::MissingRequiredArgument => format!("required arguments are missing: {argument}"),
        ErrorKind::ArgumentConflict => {
            format!("the argument '{argument}' cannot be used with '{}'", of(ContextKind::PriorArg))
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("a value is required for '{argument}'"),
        ErrorKind::InvalidValue => {
            format!("invalid value '{value}' for '{argument}'; allowed is {}", of(ContextKind::ValidValue))
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            format!("invalid value '{value}' for '{argument}': {reason}")
        }
        other => format!("{other} {argument}"),
    };
    format!("error: {} (see {command} --help)", one_line(&problem))
}

fn text(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(texts) => texts.join(", "),
        other => other.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn print(line: &str) {
    // It may hold names of records, which clients choose.
    error_line(&escape(line));
}
