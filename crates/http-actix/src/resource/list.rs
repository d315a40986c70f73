//! POST /api/v2/resource/list: list resources (interface 4.4).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::extract::json::{Lenient, TextOnly};
use crate::extract::lenient_json::LenientJson;
use crate::list::{array, push_json};
use crate::openapi::description::Description;
use crate::openapi::schema::{list_of, object, text, words};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::resource::{ListFilter, ResourceListItem, ResourceService};
use serde::Deserialize;
use utoipa::openapi::schema::ArrayBuilder;

pub(crate) async fn list_resources(
    caller: Caller,
    body: LenientJson<ResourceFilterBody>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    let filter = ListFilter::try_from(body.0)?;
    array(resources.list(&caller, filter), write_item).await
}

/// The body of a resource list as clients send it (interface 4.4).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct ResourceFilterBody {
    resource_types: Lenient<Vec<Lenient<TextOnly>>>,
    domain: Lenient<TextOnly>,
}

impl TryFrom<ResourceFilterBody> for ListFilter {
    type Error = Failure;

    fn try_from(body: ResourceFilterBody) -> Result<Self, Failure> {
        let refuse = |detail: String| Reason::ResourceTypesRequired.because(detail);
        let types = body.resource_types.or_refuse(|json| refuse(format!("ResourceTypes is {json}, not an array")))?;
        let types = types.ok_or_else(|| refuse("ResourceTypes is missing".to_owned()))?;
        let name = |entry: Lenient<TextOnly>| {
            let name = entry.or_refuse(|json| refuse(format!("ResourceTypes holds {json}, not a text"))).transpose()?;
            Some(name.map(String::from))
        };
        let names = types.into_iter().filter_map(name).collect::<Result<Vec<_>, _>>()?;
        Self::new(&names, body.domain.or_json().as_deref())
    }
}

/// GUID, type, checksum, name: an array of four (interface 2.4).
fn write_item(item: &ResourceListItem, text: &mut String) {
    let (guid, checksum) = (item.guid.to_string(), item.checksum.to_string());
    push_json(text, &[guid.as_str(), item.resource_type.as_str(), &checksum, &item.name]);
}

pub(crate) fn description() -> Description {
    let about = "Lists the caller's own resources of some types, sorted by name, then GUID. The answer is streamed.";
    let filter = object("")
        .property("ResourceTypes", list_of(text("A type, or `*` for all.").examples(["*"])).min_items(Some(1)))
        .property("Domain", words(&["Private", "Public"]).description(Some("Absent, it is Private.")))
        .required("ResourceTypes");
    Description::new("List resources", about)
        .json_body("ResourceFilter", filter)
        .answers_json("The resources.", list_of(schema_of_item()))
        .refuses([Reason::JsonExpected, Reason::JsonInvalid, Reason::ResourceTypesRequired, Reason::DomainInvalid])
}

fn schema_of_item() -> ArrayBuilder {
    let about = "GUID, type, checksum and name, in this order.";
    list_of(text("")).description(Some(about)).min_items(Some(4)).max_items(Some(4))
}
