//! POST /api/v2/resource: add or update a resource (interface 4.1).

#[cfg(test)]
mod tests;

use crate::answer::Message;
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::extract::headers::joined;
use crate::extract::json::{FromJson, Lenient, Members, TextOnly, parse_object};
use crate::extract::multipart::Multipart;
use crate::middleware::context::shared;
use crate::openapi::Operation;
use crate::openapi::description::Description;
use crate::openapi::schema::{binary, closed_object, filled, guid, named, object, text, time, words};
use crate::run::run_to_completion;
use crate::uploads::UploadPermit;
use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::resource::{MetaMember, MetaText, ResourceService, StoreResourceInput};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;

const ADDED: &str = "Resource successfully added";

const TIMESTAMP: HeaderName = HeaderName::from_static("timestamp");

/// Bytes that a multipart body may have in addition to the contents of its parts.
const MULTIPART_ROOM: u64 = 64 * 1024;

pub(crate) async fn add_resource(
    request: HttpRequest,
    caller: Caller,
    body: Multipart,
    permit: UploadPermit,
    resources: Data<ResourceService>,
) -> Result<Message<'static>, ApiError> {
    let limits = &shared(&request).settings.limits;
    let limit = limits.max_resource_size.saturating_add(limits.max_json_size).saturating_add(MULTIPART_ROOM);
    let mut parts = body.at_most(limit)?.parts();
    let timestamp = joined(request.headers(), &TIMESTAMP);
    run_to_completion(async move {
        let _permit = permit;
        resources.store(&caller, timestamp.as_deref(), &mut parts, &read_description).await
    })
    .await?;
    Ok(Message::new(ADDED))
}

/// The part JsonString as clients send it (interface 4.1).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct ResourceBody {
    #[serde(rename = "ResourceGUID")]
    guid: Lenient<String>,
    #[serde(rename = "ResourceChecksum")]
    checksum: Lenient<String>,
    resource_type: Lenient<TextOnly>,
    domain: Lenient<TextOnly>,
    meta: Lenient<MetaBody>,
}

#[derive(Debug)]
struct MetaBody(Vec<MetaMember>);

impl FromJson for MetaBody {
    fn from_json(json: &RawValue) -> Option<Self> {
        let members: Members<'_> = serde_json::from_str(json.get()).ok()?;
        let texts = MetaText::ALL.map(|text| (members.find(text.as_str()).map(|(place, _)| place), text));
        let member = |(place, (name, value)): (usize, (&String, &&RawValue))| {
            let text = texts.iter().find(|(found, _)| *found == Some(place)).map(|(_, text)| *text);
            match (text, String::from_json(value)) {
                (Some(text), Some(value)) => Some(MetaMember::Text(text, value)),
                // A `null` counts as absent where one of the texts is meant (decision R5), else it is kept (T8).
                _ if value.get() == "null" && is_text(name) => None,
                _ => Some(MetaMember::Further(name.clone(), (*value).to_owned())),
            }
        };
        Some(Self(members.0.iter().enumerate().filter_map(member).collect()))
    }
}

fn is_text(name: &str) -> bool {
    MetaText::ALL.iter().any(|text| text.as_str().eq_ignore_ascii_case(name))
}

impl From<ResourceBody> for StoreResourceInput {
    fn from(body: ResourceBody) -> Self {
        let resource_type = match body.resource_type {
            Lenient::Absent => None,
            Lenient::Value(name) => Some(name.into()),
            Lenient::Other(_) => Some(String::new()),
        };
        Self {
            guid: body.guid.or_absent(),
            checksum: body.checksum.or_absent(),
            resource_type,
            domain: body.domain.or_json(),
            meta: body.meta.or_absent().map(|meta| meta.0),
        }
    }
}

/// Reads the part JsonString (decision T12).
///
/// # Errors
/// [`Reason::NotProperlyFormatted`] where it is no JSON object.
pub(crate) fn read_description(text: &[u8]) -> Result<StoreResourceInput, Failure> {
    let refuse = |detail: &str| Reason::NotProperlyFormatted.because(detail);
    let body =
        parse_object::<ResourceBody>(text).map_err(|error| refuse(&format!("JsonString is not JSON: {error}")))?;
    body.map(Into::into).ok_or_else(|| refuse("JsonString is not a JSON object"))
}

pub(crate) fn description() -> Description {
    let text = "Adds a resource, or replaces the one with the same GUID if this one is newer. The parts come in either \
                order; the file may have any name and content type. Whatever fails leaves the stored resource as it \
                was. A request that is repeated because its answer was lost is answered 200 again.";
    let timestamp = "When the resource was modified; absent, it is now. It must be newer than the stored one.";
    let parts = closed_object("")
        .property("JsonString", named("ResourceDescription"))
        .property("file", binary("The file."))
        .required("JsonString")
        .required("file");
    Description::new("Add or update a resource", text)
        .header("Timestamp", timestamp, time(""))
        .form_body(parts, &[("JsonString", "application/json"), ("file", "application/octet-stream")])
        .with_schema("ResourceDescription", resource_description())
        .with_schema("Meta", meta())
        .answers_message(ADDED)
        .leads_to([Operation::GetFile, Operation::ResourceInfo, Operation::DeleteResource], "/JsonString/ResourceGUID")
        .refuses([
            Reason::NotProperlyFormatted,
            Reason::ResourceFieldsRequired,
            Reason::ResourceGuidInvalid,
            Reason::MetaNameRequired,
            Reason::MetaProfileRequired,
            Reason::DomainInvalid,
            Reason::TimestampInvalid,
            Reason::FileMissing,
            Reason::FileNotSingle,
            Reason::ChecksumMismatch,
        ])
}

fn resource_description() -> ObjectBuilder {
    object("")
        .property("ResourceGUID", guid("Identifies the resource within the organization."))
        .property("ResourceChecksum", text("SHA1 of the file, in either case.").pattern(Some("^[0-9A-Fa-f]{40}$")))
        .property("ResourceType", resource_type("Absent, it is Generic."))
        .property(
            "Domain",
            words(&["Private", "Public"]).description(Some("Absent, it is Private on add and unchanged on update.")),
        )
        .property("Meta", named("Meta"))
        .required("ResourceGUID")
        .required("ResourceChecksum")
        .required("Meta")
}

/// The type of a resource (interface 2.1).
pub(super) fn resource_type(absent: &str) -> ObjectBuilder {
    filled(&format!(
        "NormalProfile, DefectProfile, VendorMarks, Label, ColorMapping, Template, LayoutTemplate, Library, Preview, \
         or a type of your own. {absent}"
    ))
    .examples(["Label"])
}

fn meta() -> ObjectBuilder {
    object("Further members, of any type, are kept and answered as they were sent.")
        .property("Name", filled("Name for people."))
        .property("MediaType", text("Required for NormalProfile. Also answered as Media where that is not sent."))
        .property("ProfileGroup", text("Required for NormalProfile."))
        .property("Media", text("What the PMM look-up compares."))
        .property("Mode", text("What the PMM look-up compares."))
        .required("Name")
}
