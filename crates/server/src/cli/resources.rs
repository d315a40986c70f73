//! `platen resources list`, `show`, `holders` and `export`

mod holders;

use super::export::Destination;
use super::failure::Failure;
use super::listing::{Listing, Record, json_line};
use super::lookup::{self, Organizations};
use super::output::Out;
use super::query::{self, Limit, QueryOptions};
use super::table::{Cell, Column};
use super::values;
use crate::config::Config;
use crate::wiring;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use domain::inspection::InspectionRepository;
use domain::resource::{Domain, ListFilter, ResourceListItem, ResourceRepository, StoredResource};
use domain::text::{Folded, storable};
use futures_util::stream::{self, Stream};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum ResourcesCommand {
    /// List resources by organization, domain and name
    List(List),
    /// Show a resource with its Meta
    Show {
        #[command(flatten)]
        resource: Resource,
        /// Write one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// List the computers and users of an organization with the content of a resource that each fetched last
    Holders(holders::Holders),
    /// Save the content of a resource
    Export {
        #[command(flatten)]
        resource: Resource,
        /// File, folder, or - for stdout; in a folder the file has the name of the resource
        #[arg(value_name = "TARGET", default_value = ".")]
        target: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Default, Args)]
pub(super) struct List {
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    /// Only resources of this type, without case; several are joined by commas, * stands for all
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Only resources of this domain: Private or Public
    #[arg(long, value_name = "DOMAIN", value_parser = domain)]
    domain: Option<Domain>,
}

fn domain(text: &str) -> Result<Domain, String> {
    Domain::parse(text).ok_or_else(|| "allowed is Private or Public".to_owned())
}

/// The resource that a command is about.
#[derive(Debug, Args)]
pub(super) struct Resource {
    /// ResourceGUID, or the beginning of one
    #[arg(value_name = "GUID", value_parser = lookup::id)]
    guid: String,
    /// Only the resource of this organization
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
}

pub(super) async fn run(config: &Config, command: ResourcesCommand) -> Result<ExitCode, Failure> {
    query::run(config, async |database, out| {
        let (inspection, resources) = (database.inspection(), database.resources());
        match command {
            ResourcesCommand::List(asked) => list(&inspection, &resources, &asked, out).await,
            ResourcesCommand::Show { resource, json } => show(&inspection, &resources, &resource, json, out).await,
            ResourcesCommand::Holders(asked) => {
                holders::run(&inspection, &resources, &database.activity(), &asked, out).await
            }
            ResourcesCommand::Export { resource, target, force } => {
                let found = find_one(&inspection, &resources, &resource).await?;
                let destination = Destination::of(&target, &found.meta.name, force)?;
                let blobs = wiring::open_blobs(&config.blobs).await?;
                let content = blobs.read(&found.content.key, None).await?;
                let content = content.with_context(|| format!("the content {} is missing", found.content.key))?;
                destination.save(content, found.checksum, out).await
            }
        }
    })
    .await
}

async fn list(
    inspection: &dyn InspectionRepository,
    resources: &dyn ResourceRepository,
    asked: &List,
    out: &mut Out<'_>,
) -> Result<()> {
    let is_all = asked.types.is_empty() || asked.types.iter().any(|name| name == "*");
    let types = (!is_all).then(|| asked.types.iter().map(|name| Folded::of(&storable(name))).collect::<Vec<_>>());
    let domains = asked.domain.map_or(vec![Domain::Private, Domain::Public], |domain| vec![domain]);
    let organizations = Organizations::read(inspection, asked.options.organization.as_deref()).await?;
    let records = all(resources, &organizations, &domains, types.as_deref()).take(asked.limit.get());
    Listing::new(COLUMNS, out, asked.options.json).write(records, "no resources found", out).await
}

/// The resources by organization, domain and name.
fn all<'a>(
    resources: &'a dyn ResourceRepository,
    organizations: &'a Organizations,
    domains: &'a [Domain],
    types: Option<&'a [Folded]>,
) -> impl Stream<Item = Result<ResourceRecord>> + 'a {
    stream::iter(organizations.iter()).flat_map(move |organization| {
        stream::iter(domains).flat_map(move |domain| {
            let filter = ListFilter { types: types.map(<[Folded]>::to_vec), domain: *domain };
            let items = resources.list(organization.id, filter).map_err(anyhow::Error::from);
            let organization = organization.name.clone();
            items.map_ok(move |item| ResourceRecord { organization: organization.clone(), domain: *domain, item })
        })
    })
}

/// A resource in a list.
struct ResourceRecord {
    organization: String,
    domain: Domain,
    item: ResourceListItem,
}

const COLUMNS: [Column; 6] = [
    Column::text("ORGANIZATION"),
    Column::optional("DOMAIN"),
    Column::text("TYPE"),
    Column::text("NAME"),
    Column::whole("GUID"),
    Column::optional("SHA1"),
];

impl Record for ResourceRecord {
    fn cells(&self) -> Vec<Cell> {
        let Self { organization, domain, item } = self;
        vec![
            Cell::new(organization),
            Cell::new(domain.as_str()),
            Cell::new(item.resource_type.as_str()),
            Cell::new(&item.name),
            Cell::new(item.guid.to_string()),
            Cell::new(item.checksum.to_string()),
        ]
    }

    fn json(&self) -> Value {
        let Self { organization, domain, item } = self;
        json!({
            "organization": organization,
            "guid": item.guid.to_string(),
            "type": item.resource_type.as_str(),
            "domain": domain.as_str(),
            "name": item.name,
            "checksum": item.checksum.to_string(),
        })
    }
}

/// The resources of a GUID, in each organization that has it, with the organization's name; one at least.
async fn find(
    inspection: &dyn InspectionRepository,
    resources: &dyn ResourceRepository,
    asked: &Resource,
) -> Result<Vec<(String, StoredResource)>> {
    let organizations = Organizations::read(inspection, asked.organization.as_deref()).await?;
    let all = all(resources, &organizations, &[Domain::Private, Domain::Public], None);
    let guid = lookup::whole_id(&asked.guid, "resource", all.map_ok(|record| record.item.guid)).await?;
    let found = inspection.find_resources(guid.into()).await?.into_iter();
    let found = found.filter(|resource| organizations.contains(resource.organization));
    let mut found: Vec<_> =
        found.map(|resource| (organizations.name(resource.organization).to_owned(), resource)).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    if found.is_empty() {
        bail!("there is no resource {guid}");
    }
    Ok(found)
}

async fn find_one(
    inspection: &dyn InspectionRepository,
    resources: &dyn ResourceRepository,
    asked: &Resource,
) -> Result<StoredResource> {
    let mut found = find(inspection, resources, asked).await?;
    if found.len() > 1 {
        let names: Vec<_> = found.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        bail!("{} is a resource of {}; choose one by --organization", asked.guid, names.join(", "));
    }
    Ok(found.remove(0).1)
}

async fn show(
    inspection: &dyn InspectionRepository,
    resources: &dyn ResourceRepository,
    asked: &Resource,
    as_json: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    for (position, (organization, resource)) in find(inspection, resources, asked).await?.into_iter().enumerate() {
        let meta: Value = serde_json::from_str(&resource.meta.json).context("the Meta of the resource is damaged")?;
        if as_json {
            json_line(out, &json_of(&organization, &resource, &meta))?;
            continue;
        }
        if position > 0 {
            out.line("")?;
        }
        let facts = [
            ("ResourceGUID", resource.guid.to_string()),
            ("Organization", organization),
            ("Type", resource.resource_type.as_str().to_owned()),
            ("Domain", resource.domain.to_string()),
            ("Timestamp", resource.modified.precise()),
            ("Checksum", resource.checksum.to_string()),
            ("Size", values::size(resource.content.size)),
        ];
        let members = meta.as_object().into_iter().flatten().map(|(name, value)| {
            (format!("Meta.{name}"), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
        let facts: Vec<_> = facts.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(members).collect();
        values::facts(out, &facts)?;
    }
    Ok(())
}

fn json_of(organization: &str, resource: &StoredResource, meta: &Value) -> Value {
    json!({
        "organization": organization,
        "guid": resource.guid.to_string(),
        "type": resource.resource_type.as_str(),
        "domain": resource.domain.as_str(),
        "timestamp": resource.modified.precise(),
        "checksum": resource.checksum.to_string(),
        "size": resource.content.size,
        "meta": meta,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::caller::OrganizationId;
    use domain::fleet::FleetRegistry;
    use domain::resource::{NewResource, ResourceType};
    use domain::testing::{ACME, InMemoryStore, ZENITH, a_fleet, a_meta, a_resource, at, resource_guid};

    /// Two resources of Acme Print, one of which Zenith Media has too, and a public one.
    async fn store() -> InMemoryStore {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let [acme, zenith] = [ACME, ZENITH].map(str::to_owned);
        let [acme, zenith] = [id(&store, acme).await, id(&store, zenith).await];
        let hostile = a_meta(&[("Name", "evil\x1b[2J"), ("Mode", "a\nb")]);
        let public = NewResource {
            domain: Some(Domain::Public),
            resource_type: ResourceType::new("Template").unwrap(),
            ..a_resource(3)
        };
        store.store(acme, NewResource { meta: hostile, ..a_resource(2) }, at(0)).await.unwrap();
        for (owner, resource) in [(acme, a_resource(1)), (zenith, a_resource(1)), (acme, public)] {
            store.store(owner, resource, at(0)).await.unwrap();
        }
        store
    }

    async fn id(store: &InMemoryStore, name: String) -> OrganizationId {
        Organizations::read(store, Some(&name)).await.unwrap().ids()[0]
    }

    #[tokio::test]
    async fn on_a_narrow_terminal_the_guid_stays_whole_and_the_checksum_goes() {
        let store = store().await;
        let mut answer = Vec::new();
        let screen = Screen { width: Some(80), colors: false };
        list(&store, &store, &List::default(), &mut Out::new(&mut answer, screen)).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(&resource_guid(1).to_string()) && answer.contains("Resource"), "{answer}");
        assert!(!answer.contains("SHA1") && answer.lines().all(|line| line.chars().count() <= 80), "{answer}");
        let names = answer.lines().next().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(names, ["ORGANIZATION", "TYPE", "NAME", "GUID"], "{answer}");
    }

    async fn listed(organization: Option<&str>, types: &[&str], domain: Option<Domain>, json: bool) -> Vec<String> {
        let options = QueryOptions { organization: organization.map(str::to_owned), json };
        let types = types.iter().map(|name| (*name).to_owned()).collect();
        let asked = List { options, types, domain, limit: Limit::default() };
        let store = store().await;
        let mut answer = Vec::new();
        list(&store, &store, &asked, &mut Out::new(&mut answer, Screen::PIPE)).await.unwrap();
        String::from_utf8(answer).unwrap().lines().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn resources_are_listed_by_organization_domain_and_name() {
        let names = async |organization, types: &'static [&'static str], domain| -> Vec<String> {
            let lines = listed(organization, types, domain, true).await;
            let json = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
            json.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(None, &[], None).await, ["evil\x1b[2J", "Resource 1", "Resource 3", "Resource 1"]);
        assert_eq!(names(Some(ZENITH), &["*"], None).await, ["Resource 1"]);
        assert_eq!(names(None, &["TEMPLATE", "none"], None).await, ["Resource 3"]);
        assert_eq!(names(None, &[], Some(Domain::Public)).await, ["Resource 3"]);
        let table = listed(None, &[], None, false).await;
        assert_eq!(table.len(), 5);
        assert!(table[1].starts_with("Acme Print    Private  Label     evil\\x1b[2J"), "{table:?}");
    }

    #[tokio::test]
    async fn a_resource_is_shown_of_every_organization_that_has_it() {
        let store = store().await;
        let asked = |number, organization: Option<&str>| Resource {
            guid: resource_guid(number).to_string(),
            organization: organization.map(str::to_owned),
        };
        let shown = async |asked: Resource, json| -> String {
            let mut answer = Vec::new();
            show(&store, &store, &asked, json, &mut Out::new(&mut answer, Screen::PIPE)).await.unwrap();
            String::from_utf8(answer).unwrap()
        };
        let both = shown(asked(1, None), false).await;
        assert!(both.contains("Acme Print") && both.contains("\n\n") && both.contains("Zenith Media"), "{both}");
        let hostile = shown(asked(2, None), false).await;
        assert!(hostile.contains("Meta.Name     evil\\x1b[2J") && hostile.contains("Meta.Mode     a\\nb"), "{hostile}");
        let json: Value = serde_json::from_str(&shown(asked(2, Some(ACME)), true).await).unwrap();
        assert_eq!((&json["meta"]["Mode"], &json["size"]), (&json!("a\nb"), &json!(16)));
        let message = find(&store, &store, &asked(9, None)).await.unwrap_err().to_string();
        assert_eq!(message, format!("there is no resource {}", resource_guid(9)));
        assert!(find(&store, &store, &asked(2, Some(ZENITH))).await.is_err());
        let beginning = |guid: &str| Resource { guid: guid.to_owned(), organization: Some(ACME.to_owned()) };
        let whole = resource_guid(2).to_string();
        assert_eq!(find_one(&store, &store, &beginning(&whole)).await.unwrap().guid, resource_guid(2));
        let message = find(&store, &store, &beginning(&whole[..4])).await.unwrap_err().to_string();
        assert!(message.contains("several begin with"), "{message}");
    }

    #[tokio::test]
    async fn which_of_several_is_exported_must_be_said() {
        let store = store().await;
        let asked = |organization: Option<&str>| Resource {
            guid: resource_guid(1).to_string(),
            organization: organization.map(str::to_owned),
        };
        let message = find_one(&store, &store, &asked(None)).await.unwrap_err().to_string();
        assert!(message.contains("\"Acme Print\", \"Zenith Media\"; choose one by --organization"), "{message}");
        assert!(find_one(&store, &store, &asked(Some(ZENITH))).await.is_ok());
    }
}
