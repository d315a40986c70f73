//! `platen fleet apply`, `platen fleet export` and `platen fleet show`

mod dry;
mod show;

use super::failure::Failure;
use super::lookup::Organizations;
use super::output;
use super::query::QueryOptions;
use super::table::escape_json;
use crate::config::Config;
use crate::fleet_json;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use clap::Subcommand;
use domain::fleet::{Changes, Fleet, FleetService};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum FleetCommand {
    /// Register all that a fleet file names; prints the keys that are issued
    Apply {
        /// Fleet file (JSON)
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Only say what would be added, changed and left as it is, and what is registered but not in the file
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the registered fleet as a fleet file, without credentials
    Export {
        /// Only this organization
        #[arg(long, value_name = "NAME")]
        organization: Option<String>,
    },
    /// Show the registered fleet as a table
    Show(QueryOptions),
}

pub(super) async fn run(config: &Config, command: FleetCommand) -> Result<ExitCode, Failure> {
    // The file is read first: a malformed one doesn't touch the database.
    let task = match command {
        FleetCommand::Apply { file, dry_run } => {
            let fleet = fleet_json::read(&file).map_err(Failure::Misuse)?;
            if dry_run {
                return Ok(dry::run(config, &fleet).await?);
            }
            Task::Apply(fleet)
        }
        FleetCommand::Export { organization } => Task::Export(organization),
        FleetCommand::Show(asked) => return show::run(config, &asked).await,
    };
    let missing = match task {
        Task::Apply(_) => Missing::Make,
        Task::Export(_) => Missing::Refuse,
    };
    let missing_file = wiring::missing_file(&config.database);
    let (database, _) = wiring::open_database(&config.database, missing).await?;
    if let Some(file) = missing_file {
        output::note_new_database(&file);
    }
    let done = execute(&database, task).await;
    wiring::close(database).await;
    done?;
    Ok(ExitCode::SUCCESS)
}

enum Task {
    Apply(Fleet),
    Export(Option<String>),
}

async fn execute(database: &Database, task: Task) -> anyhow::Result<()> {
    let service = wiring::fleet_service(database);
    match task {
        Task::Apply(fleet) => {
            let changes = changes(&service, &fleet).await?;
            output::applied(&service.apply(&fleet).await?, changes.as_ref(), output::warning)
        }
        Task::Export(organization) => {
            let organization = match organization {
                Some(name) => Some(Organizations::name_of(&database.inspection(), &name).await?),
                None => None,
            };
            output::line(&escape_json(&fleet_json::pretty(&service.export(organization.as_deref()).await?)))
        }
    }
}

/// The changes that applying `fleet` will make, to be shown on a terminal.
pub(super) async fn changes(service: &FleetService, fleet: &Fleet) -> anyhow::Result<Option<Changes>> {
    if !output::is_interactive() {
        return Ok(None);
    }
    Ok(Some(service.preview(fleet).await?.changes(fleet)))
}
