//! `GET /resources/{organization}/{guid}`, `…/content` and `…/holders`

use super::body::{HolderBody, ResourceDetailsBody};
use crate::authenticate::Caller;
use crate::download::attachment;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::activity::Currency;
use domain::operator::OperatorError;
use domain::resource_catalog::{HolderCursor, HolderFilter, ResourceCatalogService};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// Records that use a resource, of which an answer has so many at most.
const MAX_USES: u64 = 100;

/// A resource by the name of its organization and its GUID.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ResourcePath {
    /// The name of the organization.
    pub(super) organization: String,
    /// The GUID of the resource.
    pub(super) guid: String,
}

/// The resource, with its metadata and what uses it.
#[utoipa::path(get, path = "/resources/{organization}/{guid}", operation_id = "show_resource", tag = "Resources", params(ResourcePath), responses((status = 200, description = "The resource.", body = ResourceDetailsBody), Problems))]
pub(crate) async fn show(
    caller: Caller,
    path: Path<ResourcePath>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let uses = resources.uses(&found, MAX_USES).await?;
    Ok(json(&ResourceDetailsBody::of(found, uses)))
}

/// The content, as a download.
#[utoipa::path(get, path = "/resources/{organization}/{guid}/content", operation_id = "resource_content", tag = "Resources", params(ResourcePath), responses((status = 200, description = "The content.", body = [u8], content_type = "application/octet-stream"), Problems))]
pub(crate) async fn content(
    caller: Caller,
    path: Path<ResourcePath>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let content = resources.content(&found, None).await?;
    Ok(attachment(&found.resource.meta.name, found.resource.content.size, content))
}

/// Which holders.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HolderQuery {
    /// The organization whose computers and users are listed: that of the resource if it isn't said. A public resource
    /// of a publisher is fetched by others.
    organization: Option<String>,
    /// Only holders in this state.
    #[param(value_type = Option<HolderState>)]
    state: Option<String>,
}

/// Whether a holder has the content that is stored now.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it is only a description")]
pub(crate) enum HolderState {
    Current,
    Outdated,
    NeverFetched,
}

impl HolderQuery {
    fn filter(self) -> Result<HolderFilter, OperatorError> {
        let unknown = || OperatorError::invalid("state", "must be current, outdated or never_fetched");
        let given = self.state.filter(|word| !word.is_empty());
        let state = given.map(|word| Currency::parse(&word).ok_or_else(unknown)).transpose()?;
        Ok(HolderFilter { organization: self.organization, state })
    }
}

/// Who has which content: computers by name, then users at computers that aren't registered.
#[utoipa::path(get, path = "/resources/{organization}/{guid}/holders", operation_id = "list_holders", tag = "Resources", params(ResourcePath, HolderQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<HolderBody>), Problems))]
pub(crate) async fn holders(
    caller: Caller,
    path: Path<ResourcePath>,
    filter: Query<HolderQuery>,
    page: Query<PageQuery>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(HolderCursor::parse)?;
    let filter = filter.0.filter()?;
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let holders = resources.holders(&caller.actor, &found, &filter, &asked).await?;
    Ok(json(&PageBody::of(holders.page, HolderBody::from, |cursor| cursor.to_string())))
}
