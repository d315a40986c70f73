//! The registered fleet as people read it: a row for each record.

use crate::cli::failure::Failure;
use crate::cli::listing::{Listing, Record};
use crate::cli::lookup::Organizations;
use crate::cli::output::Out;
use crate::cli::query::{self, QueryOptions};
use crate::cli::table::{Cell, Column};
use crate::config::Config;
use crate::{fleet_json, wiring};
use anyhow::Result;
use domain::fleet::{FleetOrganization, FleetRecord, FleetService};
use domain::guid::ResourceGuid;
use domain::inspection::InspectionRepository;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Display;
use std::process::ExitCode;

pub(super) async fn run(config: &Config, asked: &QueryOptions) -> Result<ExitCode, Failure> {
    query::run(config, async |database, out| {
        show(&database.inspection(), &wiring::fleet_service(database), asked, out).await
    })
    .await
}

/// Organization by organization, so that no more than one of them is held.
async fn show(
    inspection: &dyn InspectionRepository,
    fleet: &FleetService,
    asked: &QueryOptions,
    out: &mut Out<'_>,
) -> Result<()> {
    let organizations = Organizations::read(inspection, asked.organization.as_deref()).await?;
    let exported = stream::iter(organizations.iter()).then(async |it| fleet.registered(Some(&it.name)).await);
    let rows = exported.map_err(anyhow::Error::from).map_ok(|exported| {
        let of_organization = |organization: FleetOrganization| {
            if asked.json {
                return vec![FleetRow::Json(fleet_json::organization(&organization))];
            }
            rows(&organization).into_iter().map(|row| FleetRow::Cells(organization.name.clone(), row)).collect()
        };
        stream::iter(exported.organizations.into_iter().flat_map(of_organization).map(anyhow::Ok))
    });
    Listing::new(COLUMNS, out, asked.json).write(rows.try_flatten(), "nothing is registered", out).await
}

/// An organization as JSON, or a record of one as a row of the table.
enum FleetRow {
    Json(Value),
    Cells(String, [String; 4]),
}

impl Record for FleetRow {
    fn json(&self) -> Value {
        match self {
            Self::Json(organization) => organization.clone(),
            Self::Cells(..) => Value::Null,
        }
    }

    fn cells(&self) -> Vec<Cell> {
        match self {
            Self::Json(_) => Vec::new(),
            Self::Cells(organization, [kind, name, guid, details]) => {
                [kind, organization, name, guid, details].into_iter().map(Cell::new).collect()
            }
        }
    }
}

const COLUMNS: [Column; 5] = [
    Column::optional("KIND"),
    Column::optional("ORGANIZATION"),
    Column::text("NAME"),
    Column::whole("GUID"),
    Column::wide("DETAILS"),
];

/// Kind, name, GUID and details of each record.
fn rows(organization: &FleetOrganization) -> Vec<[String; 4]> {
    let publisher = organization.publisher.unwrap_or_default();
    let mut rows = vec![row("organization", Some(&organization.name), None, publisher.then(|| "publisher".to_owned()))];
    let removed = |record| organization.retired.contains(&record).then(|| "removed".to_owned());
    rows.extend(
        organization
            .users
            .iter()
            .map(|user| row("user", Some(&user.name), None, removed(FleetRecord::User(user.name.clone())))),
    );
    rows.extend(organization.computers.iter().map(|computer| {
        let serial_number = computer.serial_number.as_ref().map(|number| format!("serial number {number}"));
        let user = computer.user.as_ref().map(|user| format!("user {user}"));
        let details = removed(FleetRecord::Computer(computer.guid)).into_iter().chain(serial_number).chain(user);
        row("computer", computer.name.as_ref(), Some(&computer.guid), details)
    }));
    let devices = organization.devices.iter();
    rows.extend(devices.clone().map(|device| {
        row("device", device.name.as_ref(), Some(&device.guid), removed(FleetRecord::Device(device.guid)))
    }));
    let names: HashMap<_, _> =
        devices.map(|device| (device.guid, device.name.as_deref().unwrap_or_default())).collect();
    let queues = organization.queues.iter();
    rows.extend(queues.clone().map(|queue| {
        let device = queue.device.map(|guid| named("device", &guid, names.get(&guid)));
        let details = removed(FleetRecord::Queue(queue.guid)).into_iter().chain(device);
        row("queue", queue.name.as_ref(), Some(&queue.guid), details.chain(uses(queue.uses.as_deref())))
    }));
    let names: HashMap<_, _> = queues.map(|queue| (queue.guid, queue.name.as_deref().unwrap_or_default())).collect();
    rows.extend(organization.jobs.iter().map(|job| {
        let queue = job.queue.map(|guid| named("queue", &guid, names.get(&guid)));
        let details = removed(FleetRecord::Job(job.guid)).into_iter().chain(queue);
        row("job", job.name.as_ref(), Some(&job.guid), details.chain(uses(job.uses.as_deref())))
    }));
    rows
}

fn row(
    kind: &str,
    name: Option<&String>,
    guid: Option<&dyn Display>,
    details: impl IntoIterator<Item = String>,
) -> [String; 4] {
    let details: Vec<String> = details.into_iter().collect();
    let guid = guid.map(ToString::to_string).unwrap_or_default();
    [kind.to_owned(), name.cloned().unwrap_or_default(), guid, details.join(", ")]
}

fn named(kind: &str, guid: &dyn Display, name: Option<&&str>) -> String {
    name.map_or_else(|| format!("{kind} {guid}"), |name| format!("{kind} {name}"))
}

fn uses(resources: Option<&[ResourceGuid]>) -> Option<String> {
    match resources?.len() {
        0 => None,
        1 => Some("uses 1 resource".to_owned()),
        count => Some(format!("uses {count} resources")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::fleet::FleetRegistry;
    use domain::testing::{CountingIds, FixedClock, InMemoryStore, a_fleet, acme_records, at};
    use std::sync::Arc;

    async fn shown(organization: Option<&str>, json: bool) -> anyhow::Result<String> {
        shown_on(Screen::PIPE, organization, json).await
    }

    async fn shown_on(screen: Screen, organization: Option<&str>, json: bool) -> anyhow::Result<String> {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let clock = Arc::new(FixedClock::new(at(0)));
        let fleet = FleetService::new(Arc::new(store.clone()), clock, Arc::new(CountingIds::default()));
        let mut answer = Vec::new();
        let asked = QueryOptions { organization: organization.map(str::to_owned), json };
        show(&store, &fleet, &asked, &mut Out::new(&mut answer, screen)).await?;
        Ok(String::from_utf8(answer).unwrap())
    }

    #[tokio::test]
    async fn every_record_has_a_row_that_names_what_it_belongs_to() {
        let table = shown(Some("Acme Print"), false).await.unwrap();
        let records = acme_records();
        let expected = [
            ("organization", String::new(), ""),
            ("computer", records.computer.to_string(), "serial number SN-1000, user Ann"),
            ("device", records.device.to_string(), ""),
            ("queue", records.queue.to_string(), "device Latex 1, uses 1 resource"),
            ("job", records.job.to_string(), "queue Banner, uses 1 resource"),
        ];
        for (kind, guid, details) in expected {
            let is_of_kind = |line: &&str| line.split("  ").any(|cell| cell.trim() == kind);
            let line = table.lines().find(is_of_kind).unwrap();
            assert!(
                line.starts_with(kind)
                    && line.contains("Acme Print")
                    && line.contains(&guid)
                    && line.ends_with(details),
                "{line}"
            );
        }
        assert!(table.contains("  Ann") && table.contains("  Bob") && !table.contains("Zenith"), "{table}");
        let all = shown(None, false).await.unwrap();
        assert!(all.contains("Zenith Media") && all.contains("publisher") && all.contains("Acme Print"), "{all}");
    }

    #[tokio::test]
    async fn guids_are_whole_on_a_narrow_terminal() {
        let screen = Screen { width: Some(80), colors: false };
        let table = shown_on(screen, None, false).await.unwrap();
        let records = acme_records();
        for guid in [records.computer.to_string(), records.queue.to_string(), records.job.to_string()] {
            assert!(table.contains(&guid), "{table}");
        }
    }

    #[tokio::test]
    async fn json_is_an_organization_of_a_fleet_file_a_line() {
        let lines = shown(None, true).await.unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["name"], &lines[1]["publisher"]), (&"Acme Print".into(), &true.into()));
        assert_eq!(lines[0]["devices"][0]["name"], "Latex 1");
    }

    #[tokio::test]
    async fn an_organization_that_is_not_registered_is_an_error() {
        let error = shown(Some("Akme"), false).await.unwrap_err();
        assert_eq!(error.to_string(), "organization \"Akme\" is not registered");
    }
}
