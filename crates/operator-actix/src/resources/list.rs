//! `GET /resources`

use super::body::ResourceBody;
use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::resource_catalog::{CatalogCursor, CatalogQuery, ResourceCatalogService};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which resources: all that fit every condition. An empty value is no condition.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ResourceQuery {
    /// Only resources of this organization.
    organization: Option<String>,
    /// Only resources of this type, without case.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    resource_type: Option<String>,
    /// Only `Private` or `Public` ones, without case.
    domain: Option<String>,
    /// Only resources of this GUID, or whose name holds this text within its first 200 characters, without case.
    q: Option<String>,
}

impl From<ResourceQuery> for CatalogQuery {
    fn from(query: ResourceQuery) -> Self {
        let ResourceQuery { organization, resource_type, domain, q } = query;
        Self { organization, resource_type, domain, q }
    }
}

/// The resources that the operator sees, by name. With `q` a page may have fewer items than asked for although another
/// one follows.
#[utoipa::path(get, path = "/resources", operation_id = "list_resources", tag = "Resources", params(ResourceQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<ResourceBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    filter: Query<ResourceQuery>,
    page: Query<PageQuery>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(CatalogCursor::parse)?;
    let page = resources.list(&caller.actor, &filter.0.into(), &asked).await?;
    Ok(json(&PageBody::of(page, ResourceBody::from, |cursor| cursor.to_string())))
}
