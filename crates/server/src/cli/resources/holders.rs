//! `platen resources holders`: the content of a resource that each computer and user has (decision I9).

use super::all;
use crate::cli::listing::{Listing, Record};
use crate::cli::lookup::{self, Organizations};
use crate::cli::output::Out;
use crate::cli::query::Limit;
use crate::cli::table::{Cell, Color, Column};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use domain::activity::{ActivityRepository, ComputerFetch, Currency, Fetch, ResourceKey, UserFetch};
use domain::inspection::InspectionRepository;
use domain::resource::{Domain, ResourceRepository, StoredResource};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::future::ready;

#[derive(Debug, Args)]
pub(in crate::cli) struct Holders {
    /// ResourceGUID, or the beginning of one
    #[arg(value_name = "GUID", value_parser = lookup::id)]
    guid: String,
    /// The organization whose computers are shown
    #[arg(long, value_name = "NAME")]
    organization: String,
    #[command(flatten)]
    limit: Limit,
    /// Only holders in this state
    #[arg(long, value_name = "STATE")]
    state: Option<State>,
    /// Write one JSON object per line
    #[arg(long)]
    json: bool,
}

/// The values of [`Currency`] as arguments.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Current,
    Outdated,
    NeverFetched,
}

impl From<State> for Currency {
    fn from(state: State) -> Self {
        match state {
            State::Current => Self::Current,
            State::Outdated => Self::Outdated,
            State::NeverFetched => Self::NeverFetched,
        }
    }
}

pub(super) async fn run(
    inspection: &dyn InspectionRepository,
    resources: &dyn ResourceRepository,
    activity: &dyn ActivityRepository,
    asked: &Holders,
    out: &mut Out<'_>,
) -> Result<()> {
    let of_holders = Organizations::read(inspection, Some(&asked.organization)).await?;
    let organization = of_holders.ids().pop().context("the organization was removed meanwhile")?;
    let everywhere = Organizations::read(inspection, None).await?;
    let known = all(resources, &everywhere, &[Domain::Private, Domain::Public], None);
    let guid = lookup::whole_id(&asked.guid, "resource", known.map_ok(|record| record.item.guid)).await?;
    let found = inspection.find_resources(guid.into()).await?;
    // As for a download: the organization's own resource, else a public one of a publisher (decision T15).
    let own = found.iter().find(|resource| resource.organization == organization);
    let public = || found.iter().find(|resource| resource.domain == Domain::Public);
    let Some(resource) = own.or_else(public) else {
        bail!("\"{}\" has no resource {guid}", asked.organization);
    };
    let key = ResourceKey { organization: resource.organization, guid: resource.guid };
    let computers = activity.computers_of_resource(organization, key);
    let computers = computers.map_ok(|found| Holder::of_computer(found, resource));
    let users = activity.users_of_resource(organization, key).map_ok(|found| Holder::of_user(found, resource));
    let is_wanted = |holder: &Holder| asked.state.is_none_or(|state| holder.currency == state.into());
    let holders = computers.chain(users).map_err(anyhow::Error::from);
    let holders = holders.try_filter(|holder| ready(is_wanted(holder))).take(asked.limit.get());
    Listing::new(COLUMNS, out, asked.json).write(holders, "no holders found", out).await
}

/// A computer or user, and the content that it fetched last.
struct Holder {
    /// The GUID of a computer; `None` for a user.
    computer: Option<String>,
    name: String,
    /// The SerialNumber that a user sent; `None` for a computer.
    serial_number: Option<String>,
    fetch: Option<Fetch>,
    currency: Currency,
}

impl Holder {
    fn of_computer(found: ComputerFetch, resource: &StoredResource) -> Self {
        Self {
            computer: Some(found.guid.to_string()),
            name: found.name,
            serial_number: None,
            fetch: found.fetch,
            currency: Currency::of(found.fetch, resource.checksum),
        }
    }

    fn of_user(found: UserFetch, resource: &StoredResource) -> Self {
        Self {
            computer: None,
            name: found.name,
            serial_number: Some(found.serial_number),
            fetch: Some(found.fetch),
            currency: Currency::of(Some(found.fetch), resource.checksum),
        }
    }
}

const COLUMNS: [Column; 6] = [
    Column::whole("STATE"),
    Column::text("HOLDER"),
    Column::optional("SERIAL"),
    Column::whole("FETCHED"),
    Column::optional("GUID"),
    Column::optional("SHA1"),
];

impl Record for Holder {
    fn cells(&self) -> Vec<Cell> {
        let color = match self.currency {
            Currency::Current => Some(Color::Green),
            Currency::Outdated => Some(Color::Yellow),
            Currency::NeverFetched => None,
        };
        let or_none = |text: Option<String>| Cell::new(text.unwrap_or_else(|| "-".to_owned()));
        vec![
            Cell::new(self.currency.as_str()).colored(color),
            Cell::new(&self.name),
            Cell::new(self.serial_number.as_deref().unwrap_or_default()),
            or_none(self.fetch.map(|fetch| fetch.at.to_string())),
            Cell::new(self.computer.as_deref().unwrap_or_default()),
            or_none(self.fetch.map(|fetch| fetch.checksum.to_string())),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "state": self.currency.as_str(),
            "computer": self.computer,
            "name": self.name,
            "serial_number": self.serial_number,
            "fetched": self.fetch.map(|fetch| fetch.at.precise()),
            "checksum": self.fetch.map(|fetch| fetch.checksum.to_string()),
        })
    }
}
