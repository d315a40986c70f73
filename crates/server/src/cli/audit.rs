//! `platen audit`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::lookup::Organizations;
use super::query::{self, Limit, QueryOptions, TimeRange};
use super::table::{Cell, Column};
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use clap::Args;
use domain::audit::{AuditAction, AuditFilter, AuditRecord, AuditService, AuditedValue};
use domain::operator::Actor;
use domain::page::PageRequest;
use domain::text::Folded;
use futures_util::StreamExt;
use futures_util::TryStreamExt;
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Records in one page.
const PAGE: u64 = 500;

#[derive(Debug, Args)]
pub(super) struct AuditArguments {
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    period: TimeRange,
    /// Only changes by this operator, or by this user of the system
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    /// Only this action, such as session.refused or key.issued
    #[arg(long, value_name = "ACTION", value_parser = action)]
    what: Option<AuditAction>,
}

fn action(text: &str) -> Result<AuditAction, String> {
    AuditAction::parse(text).ok_or_else(|| {
        let all: Vec<&str> = AuditAction::ALL.iter().map(|action| action.code()).collect();
        format!("allowed is {}", all.join(", "))
    })
}

pub(super) async fn run(config: &Config, asked: AuditArguments) -> Result<ExitCode, Failure> {
    let actor = wiring::actor();
    query::run(config, async |database, out| {
        let organizations = Organizations::read(&database.inspection(), asked.options.organization.as_deref()).await?;
        let (from, to) = asked.period.bounds();
        let filter = AuditFilter {
            organization: organizations.only().map(|organization| organization.id),
            who: asked.who.as_deref().map(Folded::of),
            what: asked.what,
            from,
            to,
        };
        let audit = AuditService::new(Arc::new(database.audit()));
        let records = newest_first(&audit, &actor, &filter).take(asked.limit.get());
        let listing = Listing::new(COLUMNS, out, asked.options.json);
        listing.write(records, "no audit records found", out).await
    })
    .await
}

fn newest_first(audit: &AuditService, actor: &Actor, filter: &AuditFilter) -> impl Stream<Item = Result<AuditRecord>> {
    // The state is where the next page begins; `None` after the last page.
    let pages = stream::try_unfold(Some(None), async move |state| {
        let Some(after) = state else {
            return anyhow::Ok(None);
        };
        let page = audit.list(actor, filter.clone(), PageRequest { after, limit: PAGE }).await?;
        let records = stream::iter(page.items.into_iter().map(anyhow::Ok));
        Ok(Some((records, page.next.map(Some))))
    });
    pages.try_flatten()
}

const COLUMNS: [Column; 7] = [
    Column::whole("TIME"),
    Column::text("WHO"),
    Column::whole("ADDRESS"),
    Column::optional("ORGANIZATION"),
    Column::whole("WHAT"),
    Column::text("ON"),
    Column::text("VALUES"),
];

impl Record for AuditRecord {
    fn json(&self) -> Value {
        let record = &self.record;
        let (credential, token) = record.author.credential.parts();
        let value =
            |value: &AuditedValue| json!({ "member": value.member, "before": value.before, "after": value.after });
        json!({
            "id": self.id,
            "time": record.at.precise(),
            "who": record.author.name,
            "by": credential,
            "token": token,
            "address": record.author.address,
            "organization": self.organization,
            "what": record.action.code(),
            "on": record.target,
            "values": record.values.iter().map(value).collect::<Vec<_>>(),
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let record = &self.record;
        let who = match record.author.credential.parts() {
            (_, Some(token)) => format!("{} (token {token})", record.author.name),
            (credential, None) => format!("{} ({})", record.author.name, credential.replace('_', " ")),
        };
        vec![
            Cell::new(record.at.to_string()),
            Cell::new(who),
            Cell::new(record.author.address.as_deref().unwrap_or_default()),
            Cell::new(self.organization.as_deref().unwrap_or_default()),
            Cell::new(record.action.code()),
            Cell::new(&record.target),
            Cell::lines(record.values.iter().map(shown)),
        ]
    }
}

fn shown(value: &AuditedValue) -> String {
    match (&value.before, &value.after) {
        (Some(before), Some(after)) => format!("{}: {before} to {after}", value.member),
        (None, Some(after)) => format!("{}: {after}", value.member),
        (Some(before), None) => format!("{}: no longer {before}", value.member),
        (None, None) => value.member.clone(),
    }
}
