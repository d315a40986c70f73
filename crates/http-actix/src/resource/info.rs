//! Get the info of a resource (interface 4.5), and the object that info and PMM lookup answer (2.3).

use crate::call::Call;
use crate::error::Fault;
use crate::reply::{Answer, Content};
use domain::json::Quoted;
use domain::resource::StoredResource;

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
