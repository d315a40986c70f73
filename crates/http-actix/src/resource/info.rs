//! GET /api/v2/resource/info/{guid}: the info of a resource (interface 4.5), which the PMM lookup answers too (2.3).

use crate::answer;
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::openapi::description::Description;
use crate::openapi::schema::{guid, named, object, text, time, words};
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::error::{Reason, StoreError};
use domain::resource::{ResourceService, StoredResource};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;

pub(crate) async fn resource_info(
    caller: Caller,
    guid: Path<String>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    info(&resources.info(&caller, &guid).await?)
}

/// Resource info (interface 2.3).
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct InfoBody<'a> {
    #[serde(rename = "ResourceGUID")]
    guid: String,
    #[serde(rename = "ResourceChecksum")]
    checksum: String,
    resource_type: &'a str,
    timestamp: String,
    domain: &'a str,
    /// As it is stored.
    meta: &'a RawValue,
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
    Ok(answer::json(text))
}

pub(crate) fn description() -> Description {
    let text =
        "A resource that the caller's organization doesn't have is looked for among the public ones of publishers.";
    answers_info(Description::new("Get the info of a resource", text))
        .refuses([Reason::ResourceNotFound, Reason::ResourceNoAccess])
}

/// An operation that answers resource info.
pub(super) fn answers_info(description: Description) -> Description {
    description.answers_json("The resource.", named("ResourceInfo")).with_schema("ResourceInfo", schema_of_info())
}

fn schema_of_info() -> ObjectBuilder {
    let meta = object("As it was sent; MediaType also as Media where no Media was sent.")
        .property("Name", text(""))
        .property("MediaType", text(""))
        .property("ProfileGroup", text(""))
        .property("Media", text(""))
        .property("Mode", text(""))
        .required("Name");
    let members: [(&str, ObjectBuilder); 6] = [
        ("ResourceGUID", guid("")),
        ("ResourceChecksum", text("SHA1 of the file.").pattern(Some("^[0-9A-F]{40}$"))),
        ("ResourceType", text("")),
        ("Timestamp", time("When the resource was modified, to the second.")),
        ("Domain", words(&["Private", "Public"])),
        ("Meta", meta),
    ];
    members.into_iter().fold(object(""), |info, (name, schema)| info.property(name, schema).required(name))
}
