//! List resources (interface 4.4).

use crate::call::Call;
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::openapi::schema::{list_of, object, text, words};
use crate::reply::{Answer, array};
use domain::error::Reason;
use domain::json::Quoted;
use domain::resource::ResourceListItem;
use std::fmt::Write;
use utoipa::openapi::schema::ArrayBuilder;

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let items = call.shared.services.resources.list(&call.admission.caller, &body)?;
    Ok(Answer::json(array(items, write_item).await?))
}

/// GUID, type, checksum, name: an array of four (interface 2.4).
fn write_item(item: &ResourceListItem, text: &mut String) {
    let kind = Quoted(item.resource_type.as_str());
    let name = Quoted(&item.name);
    // Writing to a String never fails.
    let _ = write!(text, "[\"{}\",{kind},\"{}\",{name}]", item.guid, item.checksum);
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
