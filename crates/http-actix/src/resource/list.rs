//! List resources (interface 4.4).

use crate::call::Call;
use crate::error::Fault;
use crate::reply::{Answer, array};
use domain::json::Quoted;
use domain::resource::ResourceListItem;
use std::fmt::Write;

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
