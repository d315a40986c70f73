//! Get the info of a resource (interface 4.5), and the object that info and PMM lookup answer (2.3).

use crate::call::Call;
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::openapi::schema::{guid, named, object, text, time, words};
use crate::reply::{Answer, Content};
use domain::error::Reason;
use domain::json::Quoted;
use domain::resource::StoredResource;
use utoipa::openapi::schema::ObjectBuilder;

pub(crate) async fn handle(call: Call<'_>) -> Result<Answer, Fault> {
    let resource = call.shared.services.resources.info(&call.admission.caller, call.guid()).await?;
    Ok(answer(&resource))
}

/// Resource info. Meta is stored as the JSON text that is answered.
pub(super) fn answer(resource: &StoredResource) -> Answer {
    let text = format!(
        r#"{{"ResourceGUID":"{}","ResourceChecksum":"{}","ResourceType":{},"Timestamp":"{}","Domain":"{}","Meta":{}}}"#,
        resource.guid,
        resource.checksum,
        Quoted(resource.resource_type.as_str()),
        resource.modified,
        resource.domain,
        resource.meta.json
    );
    Answer::json(Content::Whole(text.into()))
}

pub(crate) fn description() -> Description {
    let text =
        "A resource that the caller's organization doesn't have is looked for among the public ones of publishers.";
    answers_info(Description::new("Get the info of a resource", text))
        .refuses([Reason::ResourceNotFound, Reason::ResourceNoAccess])
}

/// An operation that answers resource info.
pub(super) fn answers_info(description: Description) -> Description {
    description.answers_json("The resource.", named("ResourceInfo")).with_schema("ResourceInfo", resource_info())
}

fn resource_info() -> ObjectBuilder {
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
