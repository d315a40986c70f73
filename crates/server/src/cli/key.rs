//! `platen key issue` and `platen key revoke`

use super::failure::Failure;
use super::output;
use crate::config::Config;
use crate::wiring::{self, Missing};
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Issue one more MisKey to a user and print it once
    Issue(Holder),
    /// Revoke all MisKeys of a user, for ever
    Revoke(Holder),
}

/// Whose keys they are.
#[derive(Debug, Args)]
pub(super) struct Holder {
    /// Organization of the user
    #[arg(long, value_name = "NAME")]
    organization: String,
    /// User whose keys they are
    #[arg(long, value_name = "NAME")]
    user: String,
}

pub(super) async fn run(config: &Config, command: KeyCommand) -> Result<ExitCode, Failure> {
    let (database, _) = wiring::open_database(&config.database, Missing::Refuse).await?;
    let done = execute(&wiring::fleet_service(&database), command).await;
    wiring::close(database).await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn execute(fleet: &domain::fleet::FleetService, command: KeyCommand) -> anyhow::Result<()> {
    match command {
        KeyCommand::Issue(holder) => output::key(&fleet.issue_key(&holder.organization, &holder.user).await?),
        KeyCommand::Revoke(holder) => {
            let revoked = fleet.revoke_keys(&holder.organization, &holder.user).await?.revoked;
            output::line(&summary(revoked, &holder))
        }
    }
}

fn summary(revoked: u64, Holder { organization, user }: &Holder) -> String {
    match revoked {
        0 => format!("revoked 0 keys of {user} of {organization}: the user had none that was valid"),
        1 => format!("revoked 1 key of {user} of {organization}"),
        _ => format!("revoked {revoked} keys of {user} of {organization}"),
    }
}
