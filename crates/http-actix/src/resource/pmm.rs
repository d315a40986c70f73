//! PMM info lookup (interface 4.6).

use super::info;
use crate::call::Call;
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::openapi::schema::{filled, list_of, named, object};
use crate::reply::Answer;
use domain::error::Reason;
use utoipa::openapi::schema::OneOfBuilder;

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let resource = call.shared.services.resources.find_by_pmm(&call.admission.caller, &body).await?;
    Ok(info::answer(&resource))
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
