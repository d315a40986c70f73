//! GET /api/v2/resource/info/{guid}: the info of a resource (interface 4.5), which the PMM lookup answers too (2.3).

use crate::answer;
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::openapi::description::Description;
use crate::openapi::schema::{guid, named, object, text, time, words};
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::error::Reason;
use domain::json::Quoted;
use domain::resource::{ResourceService, StoredResource};
use utoipa::openapi::schema::ObjectBuilder;

pub(crate) async fn resource_info(
    caller: Caller,
    guid: Path<String>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    Ok(info(&resources.info(&caller, &guid).await?))
}

/// Answers resource info. Meta is stored as the JSON text that is answered.
pub(super) fn info(resource: &StoredResource) -> HttpResponse {
    answer::json(format!(
        r#"{{"ResourceGUID":"{}","ResourceChecksum":"{}","ResourceType":{},"Timestamp":"{}","Domain":"{}","Meta":{}}}"#,
        resource.guid,
        resource.checksum,
        Quoted(resource.resource_type.as_str()),
        resource.modified,
        resource.domain,
        resource.meta.json
    ))
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
