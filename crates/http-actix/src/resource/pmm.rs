//! POST /api/v2/resource/pmminfo: PMM info lookup (interface 4.6).

#[cfg(test)]
mod tests;

use super::info::{InfoBody, info};
use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::body::AnyTypeJson;
use crate::extract::json::Lenient;
use crate::openapi::responses::{Responses, refusals};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::resource::{PmmKey, ResourceService};
use serde::Deserialize;
use utoipa::{IntoResponses, ToSchema};

/// Look a resource up by PMM values
///
/// Finds the caller's own resource that was made for a profile group, a media and a mode. Values are compared without
/// case with the members of Meta of the same names; of several resources the newest is answered. The content type
/// doesn't matter.
#[utoipa::path(
    post,
    path = "/api/v2/resource/pmminfo",
    tag = "Resources",
    request_body = PmmQueryOrWrapped,
    responses((status = 200, description = "The resource.", body = InfoBody), Refusals)
)]
pub(crate) async fn find_by_pmm(
    caller: Caller,
    body: AnyTypeJson<PmmQueryBody>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    let key = PmmKey::try_from(body.0)?;
    info(&resources.find_by_pmm(&caller, &key).await?)
}

/// What the resource was made for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = PmmQuery)]
pub(crate) struct PmmQueryBody {
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    profile_group: Lenient<String>,
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    media: Lenient<String>,
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    mode: Lenient<String>,
}

/// The values, or an array that holds only them (interface 4.6).
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is only the schema of the body")]
enum PmmQueryOrWrapped {
    Plain(PmmQueryBody),
    Wrapped(#[schema(inline)] WrappedPmmQuery),
}

#[derive(ToSchema)]
#[schema(min_items = 1, max_items = 1)]
#[expect(dead_code, reason = "it is only the schema of the body")]
struct WrappedPmmQuery(Vec<PmmQueryBody>);

impl TryFrom<PmmQueryBody> for PmmKey {
    type Error = Failure;

    fn try_from(body: PmmQueryBody) -> Result<Self, Failure> {
        Self::new(body.profile_group.or_absent(), body.media.or_absent(), body.mode.or_absent())
    }
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([
            Reason::BodyTooLarge,
            Reason::BodyTimedOut,
            Reason::NotProperlyFormatted,
            Reason::JsonInvalid,
            Reason::PmmValuesRequired,
            Reason::PmmNotFound,
        ])
    }
}
