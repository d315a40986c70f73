//! POST /api/v2/resource: add or update a resource (interface 4.1).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::headers::joined;
use crate::extract::json::{FromJson, Lenient, Members, TextOnly, parse_object};
use crate::extract::multipart::Multipart;
use crate::openapi::responses::{Responses, refusals, words};
use crate::response::Message;
use crate::services::{Settings, run_to_completion};
use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use actix_web::web::Data;
use domain::error::{Failure, Reason};
use domain::resource::{MetaMember, MetaText, ResourceService, StoreResourceInput};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{IntoResponses, ToSchema};

const ADDED: &str = "Resource successfully added";

/// Where a request holds the GUID that other operations are then asked for.
const SENT_GUID: &str = "$request.body#/JsonString/ResourceGUID";

const TIMESTAMP: HeaderName = HeaderName::from_static("timestamp");

/// Bytes that a multipart body may have in addition to the contents of its parts.
const MULTIPART_OVERHEAD: u64 = 64 * 1024;

/// Add or update a resource
///
/// Adds a resource, or replaces the one with the same GUID if this one is newer. The parts come in either order; the
/// file may have any name and content type. Whatever fails leaves the stored resource as it was. A request that is
/// repeated because its answer was lost is answered 200 again.
#[utoipa::path(
    post,
    path = "/api/v2/resource",
    tag = "Resources",
    params(
        ("Timestamp" = Option<String>, Header, nullable = false, format = DateTime,
            description = "When the resource was modified; absent, it is now. It must be newer than the stored one."),
    ),
    request_body(
        content = inline(ResourceForm),
        content_type = "multipart/form-data",
        encoding(
            ("JsonString" = (content_type = "application/json")),
            ("file" = (content_type = "application/octet-stream")),
        )
    ),
    responses(
        (
            status = 200, description = ADDED, body = String, content_type = "application/json",
            links(
                ("get_file" = (operation_id = "get_file", parameters(("ResourceGUID" = SENT_GUID)))),
                ("resource_info" = (operation_id = "resource_info", parameters(("ResourceGUID" = SENT_GUID)))),
                ("delete_resource" = (operation_id = "delete_resource", parameters(("ResourceGUID" = SENT_GUID)))),
            )
        ),
        Refusals
    )
)]
pub(crate) async fn add_resource(
    request: HttpRequest,
    caller: Caller,
    body: Multipart,
    settings: Data<Settings>,
    resources: Data<ResourceService>,
) -> Result<Message, ApiError> {
    let permit = settings.uploads.acquire(caller.organization).await?;
    let limits = &settings.limits;
    let limit = limits.max_resource_size.saturating_add(limits.max_json_size).saturating_add(MULTIPART_OVERHEAD);
    let mut parts = body.at_most(limit)?.parts();
    let timestamp = joined(request.headers(), &TIMESTAMP);
    run_to_completion(async move {
        let _permit = permit;
        resources.store(&caller, timestamp.as_deref(), &mut parts, &read_description).await
    })
    .await?;
    Ok(Message::Success(ADDED))
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it is only the schema of the body")]
struct ResourceForm {
    #[schema(rename = "JsonString")]
    description: ResourceBody,
    /// The file.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// A resource, without its file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = ResourceDescription)]
pub(crate) struct ResourceBody {
    /// Identifies the resource within the organization.
    #[serde(rename = "ResourceGUID")]
    #[schema(value_type = String, format = "uuid")]
    guid: Lenient<String>,
    /// SHA1 of the file, in either case.
    #[serde(rename = "ResourceChecksum")]
    #[schema(value_type = String, pattern = "^[0-9A-Fa-f]{40}$")]
    checksum: Lenient<String>,
    /// NormalProfile, DefectProfile, VendorMarks, Label, ColorMapping, Template, LayoutTemplate, Library, Preview, or a
    /// type of your own. Absent, it is Generic.
    #[schema(value_type = String, min_length = 1, pattern = r"\S", examples("Label"), required = false)]
    resource_type: Lenient<TextOnly>,
    #[schema(schema_with = domains, required = false)]
    domain: Lenient<TextOnly>,
    #[schema(value_type = Meta)]
    meta: Lenient<MetaBody>,
}

fn domains() -> ObjectBuilder {
    words("Absent, it is Private on add and unchanged on update.", &["Private", "Public"])
}

/// What is known of a resource. Further members, of any type, are kept and answered as they were sent.
#[derive(ToSchema)]
#[schema(rename_all = "PascalCase")]
#[expect(dead_code, reason = "it is only the schema of the member")]
pub(super) struct Meta {
    /// Name for people.
    #[schema(min_length = 1, pattern = r"\S")]
    name: String,
    /// Required for NormalProfile. Also answered as Media where that is not sent.
    #[schema(required = false)]
    media_type: String,
    /// Required for NormalProfile.
    #[schema(required = false)]
    profile_group: String,
    /// What the PMM lookup compares.
    #[schema(required = false)]
    media: String,
    /// What the PMM lookup compares.
    #[schema(required = false)]
    mode: String,
}

#[derive(Debug)]
struct MetaBody(Vec<MetaMember>);

impl FromJson for MetaBody {
    fn from_json(json: &RawValue) -> Option<Self> {
        let members: Members<'_> = serde_json::from_str(json.get()).ok()?;
        let texts = MetaText::ALL.map(|text| (members.find(text.as_str()).map(|(index, _)| index), text));
        let member = |(index, (name, value)): (usize, (&String, &&RawValue))| {
            let text = texts.iter().find(|(found, _)| *found == Some(index)).map(|(_, text)| *text);
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

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([
            Reason::BodyTooLarge,
            Reason::BodyTimedOut,
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
}
