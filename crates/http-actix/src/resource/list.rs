//! POST /api/v2/resource/list: list resources (interface 4.4).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::body::LenientJson;
use crate::extract::json::{Lenient, TextOnly};
use crate::openapi::responses::{Responses, refusals, words};
use crate::response::{json_array, push_json};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::resource::{ListFilter, ResourceListItem, ResourceService};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{IntoResponses, ToSchema};

/// List resources
///
/// Lists the caller's own resources of some types, sorted by name, then GUID. The answer is streamed.
#[utoipa::path(
    post,
    path = "/api/v2/resource/list",
    tag = "Resources",
    request_body = ResourceFilterBody,
    responses((status = 200, description = "The resources.", body = Vec<ItemBody>), Refusals)
)]
pub(crate) async fn list_resources(
    caller: Caller,
    body: LenientJson<ResourceFilterBody>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    let filter = ListFilter::try_from(body.0)?;
    Ok(json_array(resources.list(&caller, filter), write_item).await?)
}

/// Which resources to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = ResourceFilter)]
pub(crate) struct ResourceFilterBody {
    /// Types, or `*` for all.
    #[schema(value_type = Vec<String>, min_items = 1, examples(json!(["*"])))]
    resource_types: Lenient<Vec<Lenient<TextOnly>>>,
    #[schema(schema_with = domains, required = false)]
    domain: Lenient<TextOnly>,
}

fn domains() -> ObjectBuilder {
    words("Absent, it is Private.", &["Private", "Public"])
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

/// GUID, type, checksum and name, in this order.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedResource)]
struct ItemBody<'a>(&'a str, &'a str, &'a str, &'a str);

fn write_item(item: &ResourceListItem, text: &mut String) {
    let (guid, checksum) = (item.guid.to_string(), item.checksum.to_string());
    push_json(text, &ItemBody(&guid, item.resource_type.as_str(), &checksum, &item.name));
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([
            Reason::BodyTooLarge,
            Reason::BodyTimedOut,
            Reason::JsonExpected,
            Reason::JsonInvalid,
            Reason::ResourceTypesRequired,
            Reason::DomainInvalid,
        ])
    }
}
