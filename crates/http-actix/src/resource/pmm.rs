//! PMM info lookup (interface 4.6).

#[cfg(test)]
mod tests;

use super::info;
use crate::call::Call;
use crate::error::Fault;
use crate::extract::json::Lenient;
use crate::openapi::description::Description;
use crate::openapi::schema::{filled, list_of, named, object};
use crate::reply::Answer;
use domain::error::{Failure, Reason};
use domain::resource::PmmKey;
use serde::Deserialize;
use utoipa::openapi::schema::OneOfBuilder;

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body: PmmQueryBody = call.json().await?;
    let key = PmmKey::try_from(body)?;
    let resource = call.shared.services.resources.find_by_pmm(&call.admission.caller, &key).await?;
    Ok(info::answer(&resource))
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
