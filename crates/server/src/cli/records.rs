//! `platen organization`, `platen user`, `platen computer`, `platen device`, `platen queue` and `platen job`: renaming and
//! removing what is registered.

use super::failure::Failure;
use super::lookup::{Kind, Organizations, Records};
use super::output;
use super::table::escape;
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::Result;
use clap::{Args, Subcommand};
use domain::fleet::{FleetRecord, RecordRegistry, parse_name};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum OrganizationCommand {
    /// Rename an organization; its records, keys and data stay
    Rename(Names),
}

#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Rename a user, who keeps keys and computers
    Rename {
        /// Organization of the user
        #[arg(long, value_name = "NAME")]
        organization: String,
        #[command(flatten)]
        names: Names,
    },
    /// Remove a user: the keys are refused from now on, the data stays
    Remove(OfOrganization),
    /// Bring a removed user back, with the former keys
    Restore(OfOrganization),
}

#[derive(Debug, Subcommand)]
pub(super) enum RecordCommand {
    /// Remove it: requests don't find it any more, and its data stays
    Remove(Target),
    /// Bring it back
    Restore(Target),
}

/// Unlike the other records, a computer authenticates.
pub(super) fn about_removed_computer(remove: clap::Command) -> clap::Command {
    remove.about("Remove it: it doesn't authenticate, requests don't find it any more, and its data stays")
}

#[derive(Debug, Args)]
pub(super) struct Names {
    /// The name that is registered
    #[arg(value_name = "NAME")]
    name: String,
    /// The name to give
    #[arg(value_name = "NEW_NAME", value_parser = parse_name)]
    new_name: String,
}

#[derive(Debug, Args)]
pub(super) struct OfOrganization {
    /// Organization of the user
    #[arg(long, value_name = "NAME")]
    organization: String,
    /// User
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
pub(super) struct Target {
    /// Its name, without case, its GUID, or the beginning of its GUID
    #[arg(value_name = "NAME|GUID")]
    name: String,
    /// Organization that it belongs to, if several have one of this name
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
}

pub(super) async fn organization(config: &Config, command: OrganizationCommand) -> Result<ExitCode, Failure> {
    let OrganizationCommand::Rename(Names { name, new_name }) = command;
    change(config, async |database| {
        let name = Organizations::name_of(&database.inspection(), &name).await?;
        wiring::fleet_registry(database).rename_organization(&name, &new_name).await?;
        Ok(format!("renamed organization \"{name}\" to \"{new_name}\""))
    })
    .await
}

pub(super) async fn user(config: &Config, command: UserCommand) -> Result<ExitCode, Failure> {
    change(config, async |database| {
        let (organization, name, is_removal) = match command {
            UserCommand::Rename { organization, names: Names { name, new_name } } => {
                let organization = Organizations::name_of(&database.inspection(), &organization).await?;
                wiring::fleet_registry(database).rename_user(&organization, &name, &new_name).await?;
                return Ok(format!("renamed user \"{name}\" of \"{organization}\" to \"{new_name}\""));
            }
            UserCommand::Remove(OfOrganization { organization, name }) => (organization, name, true),
            UserCommand::Restore(OfOrganization { organization, name }) => (organization, name, false),
        };
        let organization = Organizations::name_of(&database.inspection(), &organization).await?;
        let record = FleetRecord::User(name);
        retire(database, &organization, &record, &format!("{record} of \"{organization}\""), is_removal).await
    })
    .await
}

pub(super) async fn record(config: &Config, kind: Kind, command: RecordCommand) -> Result<ExitCode, Failure> {
    let (target, is_removal) = match command {
        RecordCommand::Remove(target) => (target, true),
        RecordCommand::Restore(target) => (target, false),
    };
    change(config, async |database| {
        let organizations = Organizations::read(&database.inspection(), target.organization.as_deref()).await?;
        let records = Records::read(&wiring::fleet_service(database), &organizations, kind).await?;
        let found = records.named(&target.name)?;
        let shown = format!("{} \"{}\" of \"{}\"", found.record, found.name, found.organization);
        retire(database, &found.organization, &found.record, &shown, is_removal).await
    })
    .await
}

/// Changes the database and prints what was done.
async fn change(config: &Config, work: impl AsyncFnOnce(&Database) -> Result<String>) -> Result<ExitCode, Failure> {
    let (database, _) = wiring::open_database(&config.database, Missing::Refuse).await?;
    let done = work(&database).await;
    wiring::close(database).await;
    output::line(&escape(&done?))?;
    Ok(ExitCode::SUCCESS)
}

async fn retire(
    database: &Database,
    organization: &str,
    record: &FleetRecord,
    shown: &str,
    is_removal: bool,
) -> Result<String> {
    let at = is_removal.then(|| wiring::clock().now());
    let is_changed = wiring::fleet_registry(database).set_retired(organization, record, at).await?;
    Ok(match (is_removal, is_changed) {
        (true, true) => format!("removed {shown}"),
        (true, false) => format!("{shown} was removed before"),
        (false, true) => format!("restored {shown}"),
        (false, false) => format!("{shown} is not removed"),
    })
}
