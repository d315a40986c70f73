//! `GET /organizations`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::operator::OrganizationList;
use serde::Serialize;
use utoipa::ToSchema;

/// A registered organization.
#[derive(Serialize, ToSchema)]
pub(crate) struct OrganizationBody {
    name: String,
}

/// The organizations that the operator sees, by name.
#[utoipa::path(get, path = "/organizations", operation_id = "list_organizations", tag = "Fleet", params(PageQuery), responses((status = 200, description = "A page.", body = PageBody<OrganizationBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    page: Query<PageQuery>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(|text| Some(text.to_owned()))?;
    let page = organizations.list(&caller.actor, asked).await?;
    Ok(json(&PageBody::of(page, |one| OrganizationBody { name: one.name }, |name| name)))
}
