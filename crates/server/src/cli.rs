//! The command line: what it takes, and how each command ends.

mod audit;
mod blobs;
mod computers;
mod config;
mod copy;
mod crashes;
mod demo;
mod devices;
mod export;
mod failure;
mod fleet;
mod healthcheck;
mod key;
mod listing;
mod logs;
mod lookup;
mod manual;
mod migrate;
mod openapi;
mod operator;
mod output;
mod query;
mod records;
mod refusals;
mod resources;
mod serve;
mod table;
mod timeline;
mod token;
mod values;

use crate::config::{self as configuration, Config};
use crate::panics;
use crate::telemetry::{self, Traces};
use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use failure::Failure;
use lookup::Kind;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Resource store, log intake and device status for print companies.
#[derive(Debug, Parser)]
#[command(name = "platen", version, propagate_version = true, disable_help_subcommand = true)]
struct Cli {
    /// Configuration to read [default: ./platen.toml, then /etc/platen/platen.toml]
    #[arg(long, value_name = "FILE", global = true, env = "PLATEN_CONFIG")]
    config: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Migrate the database and serve until SIGTERM or SIGINT
    Serve {
        /// Fleet file to apply before serving; keys that are issued are printed once
        #[arg(long, value_name = "FILE")]
        fleet: Option<PathBuf>,
    },
    /// Bring the database schema up to date
    Migrate,
    /// Register organizations, users, computers, devices, queues and jobs
    #[command(subcommand, arg_required_else_help = false)]
    Fleet(fleet::FleetCommand),
    /// Rename an organization
    #[command(subcommand, arg_required_else_help = false)]
    Organization(records::OrganizationCommand),
    /// Rename, remove or restore a user
    #[command(subcommand, arg_required_else_help = false)]
    User(records::UserCommand),
    /// Remove or restore a computer
    #[command(subcommand, arg_required_else_help = false, mut_subcommand("remove", records::about_removed_computer))]
    Computer(records::RecordCommand),
    /// Remove or restore a device
    #[command(subcommand, arg_required_else_help = false)]
    Device(records::RecordCommand),
    /// Remove or restore a queue
    #[command(subcommand, arg_required_else_help = false)]
    Queue(records::RecordCommand),
    /// Remove or restore a job
    #[command(subcommand, arg_required_else_help = false)]
    Job(records::RecordCommand),
    /// List, issue or revoke MisKeys
    #[command(subcommand, arg_required_else_help = false)]
    Key(key::KeyCommand),
    /// Add, list or remove operators, who sign in to the console, or reset a password
    #[command(subcommand, arg_required_else_help = false)]
    Operator(operator::OperatorCommand),
    /// List, issue or revoke tokens, by which programs use the operator API
    #[command(subcommand, arg_required_else_help = false)]
    Token(token::TokenCommand),
    /// List changes and sign-ins of operators, the newest first
    Audit(audit::AuditArguments),
    /// Check the stored content
    #[command(subcommand, arg_required_else_help = false)]
    Blobs(blobs::BlobsCommand),
    /// Copy all records and contents into another database and blob store
    ///
    /// Stop the servers on both sides first: a copy is refused where one of them runs, and keeps them out as long as
    /// it runs itself. It can be interrupted and started again.
    Copy {
        /// Configuration of the target; environment variables don't change it
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Fill an empty database with a fleet to look around in
    ///
    /// Two print companies with ten days of history, log entries, crash reports, colour profiles and refusals. A database
    /// that has records is refused. Prints an operator's name and password.
    Demo(demo::DemoArguments),
    /// List, show and save resources
    #[command(subcommand, arg_required_else_help = false)]
    Resources(resources::ResourcesCommand),
    /// List log entries, the newest first, or follow them
    Logs(logs::LogsArguments),
    /// List, show, save and analyze crash reports, and list their groups
    #[command(subcommand, arg_required_else_help = false)]
    Crashes(crashes::CrashesCommand),
    /// List the computers with user, last seen and version, or show one with its timeline
    Computers(computers::ComputersArguments),
    /// List the devices with their last status, or show one with its history
    Devices(devices::DevicesArguments),
    /// List the last refusals, the newest first
    Refusals(refusals::RefusalsArguments),
    /// Show the effective configuration and where each value was set
    Config {
        /// Write one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Print the OpenAPI document of the HTTP interface
    Openapi {
        /// Print the OpenAPI document of the operator API instead
        #[arg(long)]
        operator: bool,
    },
    /// Print the completions for a shell
    Completions { shell: Shell },
    /// Print the manual page, or write one for each command
    Man {
        /// Folder to write them to
        folder: Option<PathBuf>,
    },
    /// Ask the running server whether it is ready
    Healthcheck,
    /// Read a minidump from stdin (the server starts this itself)
    #[command(name = adapters_minidump::SUBCOMMAND, hide = true)]
    ReadMinidump,
}

/// Timeout at the end of the process for blocking work on a disk.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Runs the command of the command line.
pub(crate) fn run() -> ExitCode {
    panics::install_hook();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            return failure::report_usage(&error, &named_command(env::args_os().skip(1)));
        }
        // Help and version aren't errors; a reader that has gone away is no reason to complain.
        Err(asked) => {
            let _ = asked.print();
            return ExitCode::SUCCESS;
        }
    };
    match execute(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// The command that a command line names, as far as it names one: `platen key issue`. Options of the program itself
/// may stand before it.
fn named_command(arguments: impl IntoIterator<Item = OsString>) -> String {
    let mut named = "platen".to_owned();
    let (program, mut arguments) = (Cli::command(), arguments.into_iter());
    let mut command = &program;
    while command.has_subcommands()
        && let Some(argument) = arguments.next()
    {
        if argument == "--config" {
            arguments.next();
        } else if let Some(found) = command.find_subcommand(&argument) {
            named = format!("{named} {}", found.get_name());
            command = found;
        }
    }
    named
}

fn execute(cli: Cli) -> Result<ExitCode, Failure> {
    if let Command::ReadMinidump = cli.command {
        // Before the runtime starts threads: `run_child` needs a process with one thread.
        adapters_minidump::run_child(std::io::stdin().lock(), std::io::stdout().lock())
            .context("cannot read the dump")?;
        return Ok(ExitCode::SUCCESS);
    }
    let layers = configuration::load(cli.config.as_deref()).map_err(Failure::Misuse)?;
    let mut config = Config::of(&layers).map_err(Failure::Misuse)?;
    // Commands other than the server print their own messages.
    let level = if matches!(cli.command, Command::Serve { .. }) { "info" } else { "error" };
    // Clients of HTTPS need one; a second installation would be an error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let endpoint = config.telemetry.otlp_endpoint.as_deref().filter(|_| matches!(cli.command, Command::Serve { .. }));
    let traces = endpoint.map(Traces::start).transpose()?;
    telemetry::start(&config.log, level, traces.as_ref())?;
    for misnamed in layers.misnamed() {
        match cli.command {
            Command::Serve { .. } => tracing::warn!("{misnamed}"),
            _ => output::warning(&misnamed.to_string()),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Serve { fleet } => serve::run(&config, fleet.as_deref(), traces).await,
            Command::Migrate => migrate::run(&config).await,
            Command::Fleet(command) => fleet::run(&config, command).await,
            Command::Organization(command) => records::organization(&config, command).await,
            Command::User(command) => records::user(&config, command).await,
            Command::Computer(command) => records::record(&config, Kind::Computer, command).await,
            Command::Device(command) => records::record(&config, Kind::Device, command).await,
            Command::Queue(command) => records::record(&config, Kind::Queue, command).await,
            Command::Job(command) => records::record(&config, Kind::Job, command).await,
            Command::Key(command) => key::run(&config, command).await,
            Command::Operator(command) => operator::run(&config, command).await,
            Command::Token(command) => token::run(&config, command).await,
            Command::Audit(arguments) => audit::run(&config, arguments).await,
            Command::Blobs(command) => blobs::run(&config, command).await,
            Command::Copy { to } => copy::run(&config, &to).await,
            Command::Demo(arguments) => demo::run(&mut config, arguments).await,
            Command::Resources(command) => resources::run(&config, command).await,
            Command::Logs(arguments) => logs::run(&config, arguments).await,
            Command::Crashes(command) => crashes::run(&config, command).await,
            Command::Computers(arguments) => computers::run(&config, arguments).await,
            Command::Devices(arguments) => devices::run(&config, arguments).await,
            Command::Refusals(arguments) => refusals::run(&config, arguments).await,
            Command::Config { json } => config::run(&configuration::effective(&layers), json),
            Command::Openapi { operator } => openapi::run(&config, operator),
            Command::Completions { shell } => manual::completions(Cli::command(), shell),
            Command::Man { folder } => manual::man(Cli::command(), folder.as_deref()),
            Command::Healthcheck => healthcheck::run(&config).await,
            // Handled above, before the runtime starts.
            Command::ReadMinidump => Ok(ExitCode::SUCCESS),
        }
    });
    // A disk that hangs must not keep the process.
    runtime.shutdown_timeout(LAST_WAIT);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_takes_a_configuration_before_and_after_its_name() {
        let commands = [
            "serve",
            "migrate",
            "fleet apply f.json",
            "fleet export",
            "fleet show --json",
            "key issue --organization A --user B",
            "key revoke --organization A --user B",
            "key revoke --id 0123",
            "key list --json",
            "organization rename A B",
            "user rename --organization A B C",
            "user remove --organization A B",
            "user restore --organization A B",
            "computer remove RIP-01",
            "device restore L --organization A",
            "queue remove Q",
            "job remove J",
            "operator add Ann --role viewer --organization A",
            "operator list --json",
            "operator reset-password Ann",
            "operator remove Ann",
            "token issue --operator Ann --name ci --role viewer --expires 30d",
            "token list --operator Ann",
            "token revoke 5",
            "audit --who Ann --what key.issued --since 1h --json",
            "blobs check",
            "copy --to t.toml",
            "config",
            "demo --serve --seed 7",
            "resources list --type Label",
            "resources holders 88de5c02 --organization A --state outdated",
            "resources show 88de5c02-cce6-411f-950f-be309caa4439",
            "resources export 88de5c02-cce6-411f-950f-be309caa4439 -",
            "logs --follow",
            "crashes list",
            "crashes show 88de5c02-cce6-411f-950f-be309caa4439",
            "crashes export 88de5c02-cce6-411f-950f-be309caa4439 folder",
            "crashes analyze --all",
            "crashes groups --state new",
            "computers",
            "computers show RIP-01",
            "computers timeline RIP-01",
            "devices --status Error",
            "devices show Latex",
            "devices timeline Latex",
            "devices history Latex --since 2d --samples 10",
            "refusals",
            "openapi --operator",
            "completions bash",
            "man",
            "healthcheck",
        ];
        for command in commands {
            let after = parse(&format!("platen {command} --config c.toml")).unwrap();
            assert_eq!(after.config, Some(PathBuf::from("c.toml")), "{command}");
            let before = parse(&format!("platen --config c.toml {command}")).unwrap();
            assert_eq!(before.config, Some(PathBuf::from("c.toml")), "{command}");
            assert_eq!(parse(&format!("platen {command}")).unwrap().config, None, "{command}");
        }
    }

    #[test]
    fn options_of_commands_are_read() {
        let Command::Serve { fleet } = parse("platen serve --fleet f.json").unwrap().command else { unreachable!() };
        assert_eq!(fleet, Some(PathBuf::from("f.json")));
        let Command::Blobs(blobs::BlobsCommand::Check { repair }) =
            parse("platen blobs check --repair").unwrap().command
        else {
            unreachable!()
        };
        assert!(repair);
    }

    #[test]
    fn wrong_usage_is_one_line() {
        let lines = [
            ("platen serv", "platen", "unrecognized subcommand 'serv'"),
            ("platen --config c.toml", "platen", "requires a subcommand"),
            ("platen fleet", "platen fleet", "requires a subcommand"),
            ("platen fleet apply", "platen fleet apply", "<FILE>"),
            ("platen key issue --organization A", "platen key issue", "--user <NAME>"),
            ("platen serve --port 1", "platen serve", "unexpected argument '--port'"),
            ("platen operator add Ann --role owner", "platen operator add", "allowed is viewer or admin"),
            ("platen token issue --operator A --name b --expires 367d", "platen token issue", "at most 366d"),
            ("platen audit --what all", "platen audit", "allowed is session.started"),
            ("platen refusals --reason foo", "platen refusals", "allowed is body_timed_out, body_too_large,"),
            ("platen refusals --since yesterday", "platen refusals", "such as 1h"),
            ("platen crashes show RIP-01", "platen crashes show", "it is not a GUID"),
            ("platen logs --from yesterday", "platen logs", "such as 2026-05-04T07:00:00Z"),
            ("platen logs --follow --since 1h", "platen logs", "cannot be used with"),
            ("platen devices --status Idle,Broken", "platen devices", "allowed is Error, Idle, Offline"),
            ("platen migrate --config", "platen migrate", "a value is required for '--config <FILE>'"),
            ("platen --config serve logs --from now", "platen logs", "such as 2026"),
        ];
        for (line, command, expected) in lines {
            let error = parse(line).unwrap_err();
            assert!(error.use_stderr(), "{line}");
            let named = named_command(line.split(' ').skip(1).map(OsString::from));
            let message = failure::usage_line(&error, &named);
            assert!(message.starts_with("error: ") && message.contains(expected), "{line}: {message}");
            assert!(!message.contains('\n') && !message.contains("  "), "{line}: {message}");
            assert!(message.ends_with(&format!("(see {command} --help)")), "{line}: {message}");
        }
    }

    #[test]
    fn only_computers_and_users_are_said_to_authenticate() {
        for (kind, expected) in [("computer", true), ("device", false), ("queue", false), ("job", false)] {
            let help = parse(&format!("platen {kind} remove --help")).unwrap_err().to_string();
            assert!(help.contains("its data stays") && help.contains("authenticate") == expected, "{help}");
        }
    }

    #[test]
    fn without_a_command_the_help_is_printed() {
        let error = parse("platen").unwrap_err();
        let help = failure::help(&error).unwrap();
        assert!(help.contains("Usage: platen") && help.contains("healthcheck"), "{help}");
        assert_eq!(failure::usage_line(&error, "platen"), "error: a command is required (see platen --help)");
        assert_eq!(failure::help(&parse("platen fleet").unwrap_err()), None);
    }

    #[test]
    fn help_and_version_work_everywhere() {
        for line in ["platen", "platen serve", "platen fleet", "platen fleet apply", "platen key issue"] {
            for (option, kind) in
                [("--help", clap::error::ErrorKind::DisplayHelp), ("--version", clap::error::ErrorKind::DisplayVersion)]
            {
                let asked = parse(&format!("{line} {option}")).unwrap_err();
                assert_eq!(asked.kind(), kind, "{line} {option}");
                assert!(!asked.use_stderr());
            }
        }
    }
}
