//! One resource: what it is, what uses it, who has it, and what its content says.

use super::gamut::{Picture, picture};
use super::{ResourcePath, path_of};
use crate::layout::{Layout, page};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::activity::Currency;
use domain::error::StoreError;
use domain::icc::{ProfileFacts, UnreadProfile};
use domain::operator::OperatorError;
use domain::resource::StoredResource;
use domain::resource_catalog::{
    HolderCounts, HolderCursor, HolderFilter, ResourceCatalogService, ResourceHolder, ResourceUse,
};
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::page::PageQuery;
use operator_actix::query::Query;
use serde::Deserialize;

/// Records that use the resource, of which the page shows so many at most.
const MAX_USES: u64 = 50;

/// The filter of the holders; an empty state is none.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ShowQuery {
    state: String,
}

#[derive(Template)]
#[template(path = "resource.html")]
struct ResourcePage {
    layout: Layout,
    /// The path of this page.
    path: String,
    organization: String,
    resource: StoredResource,
    /// The members of the metadata by name.
    meta: Vec<(String, String)>,
    /// Whether the content is a picture that browsers may show.
    has_preview: bool,
    uses: Vec<ResourceUse>,
    has_more_uses: bool,
    profile: Option<ProfileFacts>,
    /// Why nothing of the profile could be read.
    unread: String,
    picture: Option<Picture>,
    counts: HolderCounts,
    all_holders: u64,
    /// The state of the holders that are listed; empty for all.
    state: String,
    holders: Vec<ResourceHolder>,
    next: String,
}

impl ResourcePage {
    /// The link to the holders of a state; empty for all.
    fn holders_link(&self, state: &str) -> String {
        format!("{}#holders", link(&self.path, &[("state", state)]))
    }

    /// The path of the page of a computer.
    fn computer_path(&self, holder: &ResourceHolder) -> String {
        holder.computer.map(|guid| format!("{}/computers/{guid}", self.layout.root)).unwrap_or_default()
    }
}

/// Kind and word of a badge.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn badge(state: &Currency) -> (&'static str, &'static str) {
    match state {
        Currency::Current => ("good", "current"),
        Currency::Outdated => ("warn", "outdated"),
        Currency::NeverFetched => ("past", "never fetched"),
    }
}

/// `GET /console/resources/{organization}/{guid}`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    path: Path<ResourcePath>,
    query: Query<ShowQuery>,
    asked: Query<PageQuery>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let asked = asked.0.request(HolderCursor::parse)?;
    let state = query.0.state;
    let filter = HolderFilter { organization: None, state: parse_state(&state)? };
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let mut uses = resources.uses(&found, MAX_USES + 1).await?;
    let has_more_uses = uses.len() as u64 > MAX_USES;
    uses.truncate(usize::try_from(MAX_USES).unwrap_or(usize::MAX));
    let holders = resources.holders(&caller.actor, &found, &filter, &asked).await?;
    let has_preview = resources.image(&found).await?.is_some();
    let (profile, unread) = match resources.profile(&found).await? {
        None => (None, String::new()),
        Some(Ok(facts)) => (Some(facts), String::new()),
        Some(Err(UnreadProfile::Unreadable(reason))) => (None, reason),
        Some(Err(UnreadProfile::Unavailable(reason))) => return Err(StoreError::unavailable(reason).into()),
    };
    let layout = Layout::signed_in(&request, &found.resource.meta.name, "resources", &caller.signed_in);
    let path = path_of(&layout.root, &found.organization, found.resource.guid);
    let next = holders.page.next.map(|cursor| link(&path, &[("state", &state), ("cursor", &cursor.to_string())]));
    let shown = ResourcePage {
        layout,
        path,
        organization: found.organization,
        meta: found.resource.meta.members(),
        resource: found.resource,
        has_preview,
        uses,
        has_more_uses,
        picture: profile.as_ref().and_then(|facts| facts.gamut.as_ref()).map(picture),
        profile,
        unread,
        counts: holders.counts,
        all_holders: holders.counts.current + holders.counts.outdated + holders.counts.never_fetched,
        state,
        holders: holders.page.items,
        next: next.map(|link| format!("{link}#holders")).unwrap_or_default(),
    };
    Ok(page(StatusCode::OK, &shown))
}

fn parse_state(text: &str) -> Result<Option<Currency>, OperatorError> {
    let unknown = || OperatorError::invalid("state", "must be current, outdated or never_fetched");
    if text.is_empty() { Ok(None) } else { Currency::parse(text).map(Some).ok_or_else(unknown) }
}
