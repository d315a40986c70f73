//! GET /api/v2/resource/info/{guid}: the info of a resource (interface 4.5), which the PMM lookup answers too (2.3).

use super::ResourcePath;
use super::add::Meta;
use crate::error::ApiError;
use crate::extract::Caller;
use crate::openapi::responses::{Responses, refusals, words};
use crate::response;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::error::{Reason, StoreError};
use domain::resource::{ResourceService, StoredResource};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{IntoResponses, ToSchema};

/// Get the info of a resource
///
/// A resource that the caller's organization doesn't have is looked for among the public ones of publishers.
#[utoipa::path(
    get,
    path = "/api/v2/resource/info/{ResourceGUID}",
    tag = "Resources",
    params(ResourcePath),
    responses((status = 200, description = "The resource.", body = InfoBody), Refusals)
)]
pub(crate) async fn resource_info(
    caller: Caller,
    path: Path<ResourcePath>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    info(&resources.info(&caller, &path.guid).await?)
}

/// A stored resource.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = ResourceInfo)]
pub(super) struct InfoBody<'a> {
    #[serde(rename = "ResourceGUID")]
    #[schema(format = "uuid")]
    guid: String,
    /// SHA1 of the file.
    #[serde(rename = "ResourceChecksum")]
    #[schema(pattern = "^[0-9A-F]{40}$")]
    checksum: String,
    resource_type: &'a str,
    /// When the resource was modified, to the second.
    #[schema(format = DateTime)]
    timestamp: String,
    #[schema(schema_with = domains)]
    domain: &'a str,
    #[schema(value_type = Meta)]
    meta: &'a RawValue,
}

fn domains() -> ObjectBuilder {
    words("", &["Private", "Public"])
}

pub(super) fn info(resource: &StoredResource) -> Result<HttpResponse, ApiError> {
    let damaged = |_| StoreError::Corrupt { what: "the Meta of a resource", id: resource.guid.to_string() };
    let info = InfoBody {
        guid: resource.guid.to_string(),
        checksum: resource.checksum.to_string(),
        resource_type: resource.resource_type.as_str(),
        timestamp: resource.modified.to_string(),
        domain: resource.domain.as_str(),
        meta: serde_json::from_str(&resource.meta.json).map_err(damaged)?,
    };
    let text = serde_json::to_string(&info).map_err(StoreError::other)?;
    Ok(response::json(text))
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([Reason::ResourceNotFound, Reason::ResourceNoAccess])
    }
}
