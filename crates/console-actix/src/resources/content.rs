//! The content of a resource: as a download, or as a picture if it is one that browsers may show (decision P7).

use super::ResourcePath;
use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use actix_web::web::{Data, Path};
use domain::operator::OperatorError;
use domain::resource_catalog::ResourceCatalogService;
use futures_util::TryStreamExt;
use operator_actix::authenticate::Caller;
use operator_actix::download::attachment;
use operator_actix::error::Problem;

/// Bytes of the largest picture that is shown.
const MAX_PICTURE: u64 = 32 * 1024 * 1024;

/// If a browser shows the picture alone, it runs nothing and loads nothing.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// `GET /console/resources/{organization}/{guid}/content`
pub(crate) async fn content(
    caller: Caller,
    path: Path<ResourcePath>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let content = resources.content(&found, None).await?;
    Ok(attachment(&found.resource.meta.name, found.resource.content.size, content))
}

/// `GET /console/resources/{organization}/{guid}/preview`
pub(crate) async fn preview(
    caller: Caller,
    path: Path<ResourcePath>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let size = found.resource.content.size;
    let kind = if size <= MAX_PICTURE { resources.image(&found).await? } else { None };
    let Some(kind) = kind else {
        return Err(OperatorError::NotFound("a picture in this resource".to_owned()).into());
    };
    let content = resources.content(&found, None).await?;
    let response = HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, kind.content_type()))
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((CACHE_CONTROL, "no-store"))
        .no_chunking(size)
        .streaming(content.map_err(std::io::Error::other));
    Ok(response)
}
