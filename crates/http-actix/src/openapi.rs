//! The OpenAPI document. Each handler describes its operation by `#[utoipa::path]`; here is the list of them, and what
//! many operations have in common.

#[cfg(test)]
mod tests;

use crate::answer::Format;
use crate::error::ApiError;
use crate::{device, health, log, resource, server_status};
use actix_web::http::StatusCode;
use domain::error::{Reason, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::iter;
use std::time::Duration;
use utoipa::openapi::schema::{AdditionalProperties, AllOfBuilder, Object, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{
    Content, ContentBuilder, Header, HeaderBuilder, OpenApi as Document, Ref, RefOr, Response, ResponseBuilder, Schema,
    Server,
};
use utoipa::{Modify, OpenApi, ToSchema};

/// The answers of an operation by status.
pub(crate) type Responses = BTreeMap<String, RefOr<Response>>;

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
        server_status::server_status,
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
    components(schemas(Error)),
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

/// The body of every error (decision R2).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[schema(description = "The body of every error.")]
struct Error {
    /// Exact, and never changes; programs may compare it.
    message: &'static str,
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

/// The headers that many answers carry.
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

fn shared_header(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}

/// The schema of a text that is one of these words.
pub(crate) fn words(description: &str, allowed: &[&str]) -> ObjectBuilder {
    let description = Some(description).filter(|description| !description.is_empty());
    ObjectBuilder::new().schema_type(Type::String).description(description).enum_values(Some(allowed.iter().copied()))
}

/// The answers of an operation that asks for credentials and refuses requests for `reasons`.
pub(crate) fn refusals(reasons: impl IntoIterator<Item = Reason>) -> Responses {
    let credentials = [Reason::HeadersRequired, Reason::MisKeyInvalid, Reason::HardwareHashInvalid];
    error_responses(&[Format::Json], with_credentials(credentials.into_iter().chain(reasons)))
}

/// `reasons`, and what any operation that asks for credentials answers in addition.
pub(crate) fn with_credentials(reasons: impl IntoIterator<Item = Reason>) -> impl Iterator<Item = ApiError> {
    let reasons = iter::once(Reason::Overloaded).chain(reasons);
    let errors = [ApiError::Throttled { wait: Duration::ZERO }, StoreError::other("").into()];
    errors.into_iter().chain(reasons.map(|reason| reason.because("").into()))
}

/// For each status of `errors` the answer that carries one of its messages, in each format.
pub(crate) fn error_responses(formats: &[Format], errors: impl IntoIterator<Item = ApiError>) -> Responses {
    let mut by_status: BTreeMap<StatusCode, Vec<ApiError>> = BTreeMap::new();
    for error in errors {
        by_status.entry(error.status()).or_default().push(error);
    }
    let responses = by_status
        .into_iter()
        .map(|(status, errors)| (status.as_str().to_owned(), error_response(formats, &errors).into()));
    responses.collect()
}

fn error_response(formats: &[Format], errors: &[ApiError]) -> Response {
    let messages: Vec<&str> = errors.iter().map(ApiError::message).collect();
    let listed: Vec<String> = messages.iter().map(|message| format!("- `{message}`")).collect();
    let mut response = ResponseBuilder::new().description(listed.join("\n"));
    response = response.header_ref("X-Error-Detail", shared_header("X-Error-Detail"));
    if errors.iter().any(|error| error.retry_after().is_some()) {
        response = response.header_ref("Retry-After", shared_header("Retry-After"));
    }
    for format in formats {
        let schema: RefOr<Schema> = if format.is_xml() {
            Ref::from_schema_name("Error").into()
        } else {
            let message = ObjectBuilder::new().property("Message", words("", &messages));
            AllOfBuilder::new().item(Ref::from_schema_name("Error")).item(message).into()
        };
        response = response.content(format.media_type(), ContentBuilder::new().schema(Some(schema)).build());
    }
    response.build()
}
