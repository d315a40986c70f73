//! DELETE /api/v2/resource/{guid}: delete a resource (interface 4.3).

use super::ResourcePath;
use super::conditional::preconditions;
use crate::error::ApiError;
use crate::extract::Caller;
use crate::openapi::responses::{Responses, refusals};
use crate::response::Message;
use crate::services::{Settings, run_to_completion};
use actix_web::HttpRequest;
use actix_web::web::{Data, Path};
use domain::error::Reason;
use domain::resource::{Preconditions, ResourceService};
use utoipa::IntoResponses;

const DELETED: &str = "Resource successfully deleted";

/// Delete a resource
///
/// Deletes a resource of the caller's own organization that no queue or job uses.
#[utoipa::path(
    delete,
    path = "/api/v2/resource/{ResourceGUID}",
    tag = "Resources",
    params(
        ResourcePath,
        ("If-Match" = Option<String>, Header, nullable = false,
            description = "ETags: 412 if the file has none of them."),
        ("If-Unmodified-Since" = Option<String>, Header, nullable = false,
            description = "A date: 412 if the file was modified since."),
    ),
    responses((status = 200, description = DELETED, body = String, content_type = "application/json"), Refusals)
)]
pub(crate) async fn delete_resource(
    request: HttpRequest,
    caller: Caller,
    path: Path<ResourcePath>,
    settings: Data<Settings>,
    resources: Data<ResourceService>,
) -> Result<Message, ApiError> {
    let preconditions = preconditions(&request, settings.clock.now(), &settings.limits);
    run_to_completion(async move { resources.delete(&caller, Some(&path.guid), preconditions).await }).await?;
    Ok(Message::Success(DELETED))
}

/// Delete no resource
///
/// A path without a GUID names nothing: this is always refused.
#[utoipa::path(
    delete,
    path = "/api/v2/resource",
    operation_id = "delete_resource_without_guid",
    tag = "Resources",
    responses(RefusalsWithoutGuid)
)]
pub(crate) async fn delete_without_guid(caller: Caller, resources: Data<ResourceService>) -> Result<Message, ApiError> {
    resources.delete(&caller, None, Preconditions::None).await?;
    Ok(Message::Success(DELETED))
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([
            Reason::ResourceGuidMissing,
            Reason::ResourceToDeleteNotFound,
            Reason::PreconditionFailed,
            Reason::ResourceInUse,
        ])
    }
}

/// Decision T16.
struct RefusalsWithoutGuid;

impl IntoResponses for RefusalsWithoutGuid {
    fn responses() -> Responses {
        refusals([Reason::ResourceGuidMissing])
    }
}
