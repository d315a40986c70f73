//! The list of resources.

use super::path_of;
use crate::layout::{Layout, page};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::operator::{OrganizationList, Scope};
use domain::page::PageRequest;
use domain::resource_catalog::{CatalogCursor, CatalogEntry, CatalogQuery, ListedResource, ResourceCatalogService};
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use serde::Deserialize;

/// Organizations in the choice of the filter, at most.
const MAX_CHOICES: u64 = 500;

/// The filters; an empty one is none.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ListQuery {
    organization: String,
    #[serde(rename = "type")]
    resource_type: String,
    domain: String,
    q: String,
}

impl ListQuery {
    fn filter(&self) -> CatalogQuery {
        CatalogQuery {
            organization: Some(self.organization.clone()),
            resource_type: Some(self.resource_type.clone()),
            domain: Some(self.domain.clone()),
            q: Some(self.q.clone()),
        }
    }

    fn is_empty(&self) -> bool {
        [&self.organization, &self.resource_type, &self.domain, &self.q].into_iter().all(String::is_empty)
    }
}

#[derive(Template)]
#[template(path = "resources.html")]
struct ListPage {
    layout: Layout,
    query: ListQuery,
    /// Pairs of value and word; empty where the operator sees one organization only.
    organizations: Vec<(String, String)>,
    domains: Vec<(String, String)>,
    rows: Vec<Row>,
    /// The link to the next page; empty on the last one.
    next: String,
    /// Whether a search stopped before the last resource.
    is_cut: bool,
}

struct Row {
    path: String,
    organization: String,
    entry: CatalogEntry,
}

/// `GET /console/resources`
pub(crate) async fn list(
    request: HttpRequest,
    caller: Caller,
    query: Query<ListQuery>,
    asked: Query<PageQuery>,
    resources: Data<ResourceCatalogService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let asked: PageRequest<CatalogCursor> = asked.0.request(CatalogCursor::parse)?;
    let found = resources.list(&caller.actor, &query.filter(), &asked).await?;
    let layout = Layout::signed_in(&request, "Resources", "resources", &caller.signed_in);
    let choices = match caller.actor.scope {
        Scope::All => {
            let all = PageRequest { after: None, limit: MAX_CHOICES };
            organizations.list(&caller.actor, all).await?.items.into_iter().map(|one| one.name).collect()
        }
        Scope::Organization(_) => Vec::new(),
    };
    let path = format!("{}/resources", layout.root);
    let next = found.next.map(|cursor| cursor.to_string()).unwrap_or_default();
    let row = |ListedResource { organization, entry }| Row {
        path: path_of(&layout.root, &organization, entry.guid),
        organization,
        entry,
    };
    let rows: Vec<Row> = found.items.into_iter().map(row).collect();
    let shown = ListPage {
        organizations: choices_of("All organizations", choices),
        domains: choices_of("Private and public", ["Private", "Public"].map(str::to_owned).to_vec()),
        is_cut: !next.is_empty() && (rows.len() as u64) < asked.limit,
        next: if next.is_empty() { next } else { link_to(&path, &query, &next) },
        rows,
        layout,
        query,
    };
    Ok(page(StatusCode::OK, &shown))
}

/// The values of a choice, the first of which means all; none where there is nothing to choose.
fn choices_of(all: &str, values: Vec<String>) -> Vec<(String, String)> {
    if values.is_empty() {
        return Vec::new();
    }
    let values = values.into_iter().map(|value| (value.clone(), value));
    std::iter::once((String::new(), all.to_owned())).chain(values).collect()
}

fn link_to(path: &str, query: &ListQuery, cursor: &str) -> String {
    let members = [
        ("q", query.q.as_str()),
        ("organization", &query.organization),
        ("type", &query.resource_type),
        ("domain", &query.domain),
        ("cursor", cursor),
    ];
    link(path, &members)
}
