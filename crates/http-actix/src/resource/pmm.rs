//! POST /api/v2/resource/pmminfo: PMM info lookup (interface 4.6).

#[cfg(test)]
mod tests;

use super::info::{self, info};
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::extract::json::Lenient;
use crate::extract::lenient_json::AnyTypeJson;
use crate::openapi::description::Description;
use crate::openapi::schema::{filled, list_of, named, object};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::resource::{PmmKey, ResourceService};
use serde::Deserialize;
use utoipa::openapi::schema::OneOfBuilder;

pub(crate) async fn find_by_pmm(
    caller: Caller,
    body: AnyTypeJson<PmmQueryBody>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    let key = PmmKey::try_from(body.0)?;
    info(&resources.find_by_pmm(&caller, &key).await?)
}

/// The body of a PMM lookup as clients send it (interface 4.6).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct PmmQueryBody {
    profile_group: Lenient<String>,
    media: Lenient<String>,
    mode: Lenient<String>,
}

impl TryFrom<PmmQueryBody> for PmmKey {
    type Error = Failure;

    fn try_from(body: PmmQueryBody) -> Result<Self, Failure> {
        Self::new(body.profile_group.or_absent(), body.media.or_absent(), body.mode.or_absent())
    }
}

pub(crate) fn description() -> Description {
    let text = "Finds the caller's own resource that was made for a profile group, a media and a mode. Values are compared \
                without case with the members of Meta of the same names; of several resources the newest is answered. \
                No content type is asked for.";
    let query = object("")
        .property("ProfileGroup", filled(""))
        .property("Media", filled(""))
        .property("Mode", filled(""))
        .required("ProfileGroup")
        .required("Media")
        .required("Mode");
    let wrapped = list_of(named("PmmQuery")).min_items(Some(1)).max_items(Some(1));
    info::answers_info(Description::new("Look a resource up by PMM values", text))
        .with_schema("PmmQuery", query)
        .json_body("PmmQueryOrWrapped", OneOfBuilder::new().item(named("PmmQuery")).item(wrapped))
        .refuses([Reason::NotProperlyFormatted, Reason::JsonInvalid, Reason::PmmValuesRequired, Reason::PmmNotFound])
}
