//! `platen organization`, `platen user`, `platen computer`, `platen device`, `platen queue` and `platen job`: renaming and
//! removing what is registered.

use super::failure::Failure;
use super::output;
use super::table::escape;
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use domain::fleet::{Computer, Device, Fleet, FleetOrganization, FleetRecord, Job, Queue, RecordRegistry, parse_name};
use domain::guid::ComputerGuid;
use domain::text::Folded;
use std::process::ExitCode;
use uuid::Uuid;

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
    /// Remove it: it doesn't authenticate, requests don't find it, and its data stays
    Remove(Target),
    /// Bring it back
    Restore(Target),
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
    /// Its name, without case, or its GUID
    #[arg(value_name = "NAME|GUID")]
    name: String,
    /// Organization that it belongs to, if several have one of this name
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
}

/// Records that are identified by a GUID.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Computer,
    Device,
    Queue,
    Job,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Computer => "computer",
            Self::Device => "device",
            Self::Queue => "queue",
            Self::Job => "job",
        }
    }
}

pub(super) async fn organization(config: &Config, command: OrganizationCommand) -> Result<ExitCode, Failure> {
    let OrganizationCommand::Rename(Names { name, new_name }) = command;
    change(config, async |database| {
        wiring::fleet_registry(database).rename_organization(&name, &new_name).await?;
        Ok(format!("renamed organization \"{name}\" to \"{new_name}\""))
    })
    .await
}

pub(super) async fn user(config: &Config, command: UserCommand) -> Result<ExitCode, Failure> {
    change(config, async |database| match command {
        UserCommand::Rename { organization, names: Names { name, new_name } } => {
            wiring::fleet_registry(database).rename_user(&organization, &name, &new_name).await?;
            Ok(format!("renamed user \"{name}\" of \"{organization}\" to \"{new_name}\""))
        }
        UserCommand::Remove(OfOrganization { organization, name }) => {
            retire(database, &Named::user(organization, name), true).await
        }
        UserCommand::Restore(OfOrganization { organization, name }) => {
            retire(database, &Named::user(organization, name), false).await
        }
    })
    .await
}

pub(super) async fn record(config: &Config, kind: Kind, command: RecordCommand) -> Result<ExitCode, Failure> {
    let (target, is_removal) = match command {
        RecordCommand::Remove(target) => (target, true),
        RecordCommand::Restore(target) => (target, false),
    };
    change(config, async |database| {
        let fleet = wiring::fleet_service(database).registered(target.organization.as_deref()).await?;
        retire(database, &find(&fleet, kind, &target.name)?, is_removal).await
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

async fn retire(database: &Database, named: &Named, is_removal: bool) -> Result<String> {
    let at = is_removal.then(|| wiring::clock().now());
    let is_changed = wiring::fleet_registry(database).set_retired(&named.organization, &named.record, at).await?;
    let shown = named.shown();
    Ok(match (is_removal, is_changed) {
        (true, true) => format!("removed {shown}"),
        (true, false) => format!("{shown} was removed before"),
        (false, true) => format!("restored {shown}"),
        (false, false) => format!("{shown} is not removed"),
    })
}

/// A registered record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    organization: String,
    record: FleetRecord,
    /// Empty for a user, whose name is in `record`.
    name: String,
}

impl Named {
    fn user(organization: String, name: String) -> Self {
        Self { organization, record: FleetRecord::User(name), name: String::new() }
    }

    fn shown(&self) -> String {
        let Self { organization, record, name } = self;
        if name.is_empty() {
            format!("{record} of \"{organization}\"")
        } else {
            format!("{record} \"{name}\" of \"{organization}\"")
        }
    }
}

/// The one record of this kind that an operator names, by its GUID or else by its name without case.
fn find(fleet: &Fleet, kind: Kind, text: &str) -> Result<Named> {
    let (guid, name) = (ComputerGuid::parse(text).map(ComputerGuid::as_uuid), Folded::of(text));
    let mut found = Vec::new();
    for organization in &fleet.organizations {
        for (record, of_record, label) in records(organization, kind) {
            let is_guid = Some(of_record) == guid;
            if !is_guid && Folded::of(&label) != name {
                continue;
            }
            let named = Named { organization: organization.name.clone(), record, name: label };
            if is_guid {
                return Ok(named);
            }
            found.push(named);
        }
    }
    let word = kind.word();
    match &found[..] {
        [] => bail!("{word} \"{text}\" is not registered"),
        [one] => Ok(one.clone()),
        several => {
            let all: Vec<String> = several.iter().map(Named::shown).collect();
            bail!("{word} \"{text}\" is one of {}; give its GUID or --organization", all.join(", "))
        }
    }
}

/// The records of one kind, each with its GUID and its name.
fn records(organization: &FleetOrganization, kind: Kind) -> Vec<(FleetRecord, Uuid, String)> {
    let label = |name: &Option<String>| name.clone().unwrap_or_default();
    match kind {
        Kind::Computer => {
            let one = |one: &Computer| (FleetRecord::Computer(one.guid), one.guid.as_uuid(), label(&one.name));
            organization.computers.iter().map(one).collect()
        }
        Kind::Device => {
            let one = |one: &Device| (FleetRecord::Device(one.guid), one.guid.as_uuid(), label(&one.name));
            organization.devices.iter().map(one).collect()
        }
        Kind::Queue => {
            let one = |one: &Queue| (FleetRecord::Queue(one.guid), one.guid.as_uuid(), label(&one.name));
            organization.queues.iter().map(one).collect()
        }
        Kind::Job => {
            let one = |one: &Job| (FleetRecord::Job(one.guid), one.guid.as_uuid(), label(&one.name));
            organization.jobs.iter().map(one).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::{ACME, a_fleet, acme_records};

    #[test]
    fn a_record_is_found_by_name_and_by_guid() {
        let fleet = a_fleet();
        let own = acme_records();
        for (kind, name, guid, record) in [
            (Kind::Computer, "rip-01", own.computer.to_string(), FleetRecord::Computer(own.computer)),
            (Kind::Device, "LATEX 1", own.device.to_string(), FleetRecord::Device(own.device)),
            (Kind::Queue, "banner", own.queue.to_string(), FleetRecord::Queue(own.queue)),
            (Kind::Job, "order 17", own.job.to_string(), FleetRecord::Job(own.job)),
        ] {
            let found = find(&fleet, kind, name).unwrap();
            assert_eq!((&found.record, &*found.organization), (&record, ACME));
            assert_eq!(find(&fleet, kind, &guid).unwrap(), found);
        }
        let unknown = find(&fleet, Kind::Device, "RIP-01").unwrap_err().to_string();
        assert_eq!(unknown, "device \"RIP-01\" is not registered");
    }

    #[test]
    fn of_several_records_of_one_name_none_is_taken() {
        let mut fleet = a_fleet();
        fleet.organizations[1].devices[0].name = Some("latex 1".to_owned());
        let ambiguous = find(&fleet, Kind::Device, "Latex 1").unwrap_err().to_string();
        assert!(ambiguous.contains(&acme_records().device.to_string()), "{ambiguous}");
        assert!(ambiguous.ends_with("give its GUID or --organization"), "{ambiguous}");
    }

    #[test]
    fn a_guid_wins_over_a_name() {
        let (mut fleet, own) = (a_fleet(), acme_records());
        fleet.organizations[1].devices[0].name = Some(own.device.to_string());
        let found = find(&fleet, Kind::Device, &own.device.to_string()).unwrap();
        assert_eq!((found.record, &*found.organization), (FleetRecord::Device(own.device), ACME));
    }
}
