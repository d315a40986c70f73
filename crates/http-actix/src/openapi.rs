//! The OpenAPI document. Each handler describes its operation by `#[utoipa::path]`; here is the list of them, and what
//! many operations have in common.

pub(crate) mod responses;
#[cfg(test)]
mod tests;

use crate::{device, health, log, resource};
use responses::{ErrorBody, shared_header};
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{Content, Header, HeaderBuilder, OpenApi as Document, RefOr, Response, Schema, Server};
use utoipa::{Modify, OpenApi};

/// The authentication headers (interface part 5) and what they are.
const CREDENTIALS: [(&str, &str); 4] = [
    ("MisKey", "The key of a user; identifies the user and the organization."),
    ("HardwareHash", "Identifies a registered computer, together with its serial number."),
    ("SerialNumber", "The serial number of the calling computer."),
    ("ApplicationVersion", "The version of the client program."),
];

/// Bodies without other members. The server ignores those, but they never make a body valid.
const CLOSED: [&str; 3] = ["LogFilter", "DateTimeFilter", "QueueLength"];

#[derive(OpenApi)]
#[openapi(
    info(title = "Platen", description = include_str!("openapi/introduction.md")),
    paths(
        health::server_status,
        resource::add::add_resource,
        resource::delete::delete_without_guid,
        resource::list::list_resources,
        resource::pmm::find_by_pmm,
        resource::info::resource_info,
        resource::get_file::get_file,
        resource::delete::delete_resource,
        log::add::add_log,
        log::list::list_logs,
        log::crash_report::add_crash_report,
        device::status::update_device_status,
        health::live,
        health::ready,
    ),
    components(schemas(ErrorBody)),
    // One credential with the headers that it needs (decision A2).
    security(
        ("MisKey" = [], "SerialNumber" = [], "ApplicationVersion" = []),
        ("HardwareHash" = [], "SerialNumber" = [], "ApplicationVersion" = []),
    ),
    modifiers(&Shared)
)]
struct Api;

/// The document for a server with this base path, as JSON text.
pub fn document(base_path: &str) -> String {
    let mut document = Api::openapi();
    document.servers = Some(vec![Server::new(format!("/{}", base_path.trim_matches('/')))]);
    // It is made of texts and numbers only, which always can be written.
    document.to_pretty_json().unwrap_or_default()
}

/// Adds what all operations share and macros can't say.
struct Shared;

impl Modify for Shared {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        for (name, text) in CREDENTIALS {
            let header = ApiKeyValue::with_description(name, text);
            components.add_security_scheme(name, SecurityScheme::ApiKey(ApiKey::Header(header)));
        }
        components.headers.extend(shared_headers().map(|(name, header)| (name.to_owned(), header.into())));
        for name in CLOSED {
            if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
        // Others can't stand in the header that names a part.
        if let Some(RefOr::T(Schema::Object(form))) = components.schemas.get_mut("CrashReport") {
            let name = ObjectBuilder::new().schema_type(Type::String).pattern(Some(r"^[^\x00-\x1f\x7f]*$"));
            form.property_names = Some(Box::new(name.into()));
        }
        let operations =
            document.paths.paths.values_mut().flat_map(|path| [&mut path.get, &mut path.post, &mut path.delete]);
        for response in operations.flatten().flat_map(|operation| operation.responses.responses.values_mut()) {
            if let RefOr::T(response) = response {
                response.headers.insert("X-Request-Id".to_owned(), RefOr::Ref(shared_header("X-Request-Id")));
                name_message(response);
            }
        }
    }
}

/// Where the body is one exact message, that is the description of the response.
fn name_message(response: &mut Response) {
    for content in response.content.values_mut() {
        if let RefOr::T(Content { schema: Some(RefOr::T(Schema::Object(text))), .. }) = content
            && *text == Object::with_type(Type::String)
        {
            text.enum_values = Some(vec![response.description.clone().into()]);
        }
    }
}

/// The headers that many responses carry.
fn shared_headers() -> [(&'static str, Header); 3] {
    let header = |text, schema| HeaderBuilder::new().description(Some(text)).schema(Some(schema)).build();
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    [
        ("X-Error-Detail", header("Which value was refused and why, for people.", text().max_length(Some(300)))),
        ("Retry-After", header("In how many seconds to send the request again.", seconds)),
        (
            "X-Request-Id",
            header("Names the request in the server's log.", text().pattern(Some("^[A-Za-z0-9._-]{1,128}$"))),
        ),
    ]
}
