//! The OpenAPI document of the interface. Messages and statuses come from the table of responses, the rest from the
//! `description` next to each handler.

pub(crate) mod description;
pub(crate) mod schema;
#[cfg(test)]
mod tests;

use crate::answer::Format;
use crate::error::ApiError;
use crate::{device, health, log, resource, server_status};
use actix_web::http::StatusCode;
use description::Description;
use domain::error::{Reason, RequiredHeader, StoreError};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, PathItem, PathsBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ComponentsBuilder};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, Header, HeaderBuilder, InfoBuilder, LicenseBuilder, OpenApiBuilder, Ref, RefOr, ResponseBuilder,
    Schema, ServerBuilder,
};

const DETAIL: &str = "X-Error-Detail";

const LATER: &str = "Retry-After";

const REQUEST_ID: &str = "X-Request-Id";

/// The name of the GUID in a path.
const GUID_PARAMETER: &str = "ResourceGUID";

/// What holds for all operations.
const INTRODUCTION: &str = include_str!("openapi/introduction.md");

/// The authentication headers (interface part 5) and what they are.
const CREDENTIALS: [(&str, &str); 4] = [
    ("MisKey", "The key of a user; identifies the user and the organization."),
    ("HardwareHash", "Identifies a registered computer, together with its serial number."),
    ("SerialNumber", "The serial number of the calling computer."),
    ("ApplicationVersion", "The version of the client program."),
];

/// An operation that the document describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    ServerStatus,
    AddResource,
    GetFile,
    DeleteResource,
    DeleteWithoutGuid,
    ListResources,
    ResourceInfo,
    FindByPmm,
    AddLog,
    ListLogs,
    AddCrashReport,
    UpdateDeviceStatus,
    Live,
    Ready,
}

/// Every operation with its method and path, in the order of the document.
const OPERATIONS: [(Operation, HttpMethod, &str); 14] = [
    (Operation::ServerStatus, HttpMethod::Get, "/api/v2"),
    (Operation::AddResource, HttpMethod::Post, "/api/v2/resource"),
    (Operation::DeleteWithoutGuid, HttpMethod::Delete, "/api/v2/resource"),
    (Operation::ListResources, HttpMethod::Post, "/api/v2/resource/list"),
    (Operation::FindByPmm, HttpMethod::Post, "/api/v2/resource/pmminfo"),
    (Operation::ResourceInfo, HttpMethod::Get, "/api/v2/resource/info/{ResourceGUID}"),
    (Operation::GetFile, HttpMethod::Get, "/api/v2/resource/{ResourceGUID}"),
    (Operation::DeleteResource, HttpMethod::Delete, "/api/v2/resource/{ResourceGUID}"),
    (Operation::AddLog, HttpMethod::Post, "/api/v2/log"),
    (Operation::ListLogs, HttpMethod::Post, "/api/v2/log/list"),
    (Operation::AddCrashReport, HttpMethod::Post, "/api/v2/log/crashreport"),
    (Operation::UpdateDeviceStatus, HttpMethod::Post, "/api/v2/device/status"),
    (Operation::Live, HttpMethod::Get, "/health/live"),
    (Operation::Ready, HttpMethod::Get, "/health/ready"),
];

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ServerStatus => "server_status",
            Self::AddResource => "add_resource",
            Self::GetFile => "get_file",
            Self::DeleteResource => "delete_resource",
            Self::DeleteWithoutGuid => "delete_resource_without_guid",
            Self::ListResources => "list_resources",
            Self::ResourceInfo => "resource_info",
            Self::FindByPmm => "find_by_pmm",
            Self::AddLog => "add_log",
            Self::ListLogs => "list_logs",
            Self::AddCrashReport => "add_crash_report",
            Self::UpdateDeviceStatus => "update_device_status",
            Self::Live => "health_live",
            Self::Ready => "health_ready",
        }
    }

    /// Whether it is answered without credentials.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Live | Self::Ready)
    }
}

/// The document for a server with this base path, as JSON text.
pub fn document(base_path: &str) -> String {
    let mut components = ComponentsBuilder::new().schema("Error", error_schema());
    for (name, text) in CREDENTIALS {
        let header = ApiKeyValue::with_description(name, text);
        components = components.security_scheme(name, SecurityScheme::ApiKey(ApiKey::Header(header)));
    }
    for (name, header) in shared_headers() {
        components = components.header(name, header);
    }
    let mut paths = PathsBuilder::new();
    for (operation, method, path) in OPERATIONS {
        let description = describe(operation);
        for (name, schema) in &description.schemas {
            components = components.schema(*name, schema.clone());
        }
        let mut item = PathItem::new(method, describe_operation(operation, path, description));
        if operation.is_open() {
            item.servers = Some(vec![ServerBuilder::new().url("/").build()]);
        }
        paths = paths.path(path, item);
    }
    let base = base_path.trim_matches('/');
    let server = ServerBuilder::new().url(format!("/{base}")).build();
    let info =
        InfoBuilder::new().title("Platen").version(env!("CARGO_PKG_VERSION")).description(Some(INTRODUCTION)).license(
            Some(LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build()),
        );
    let document =
        OpenApiBuilder::new().info(info).servers(Some([server])).paths(paths).components(Some(components.build()));
    // It is made of texts and numbers only, which always can be written.
    document.build().to_pretty_json().unwrap_or_default()
}

fn describe(operation: Operation) -> Description {
    match operation {
        Operation::ServerStatus => server_status::description(),
        Operation::AddResource => resource::add::description(),
        Operation::GetFile => resource::get_file::description(),
        Operation::DeleteResource => resource::delete::description(),
        Operation::DeleteWithoutGuid => resource::delete::description_without_guid(),
        Operation::ListResources => resource::list::description(),
        Operation::ResourceInfo => resource::info::description(),
        Operation::FindByPmm => resource::pmm::description(),
        Operation::AddLog => log::add::description(),
        Operation::ListLogs => log::list::description(),
        Operation::AddCrashReport => log::crash_report::description(),
        Operation::UpdateDeviceStatus => device::status::description(),
        Operation::Live => health::description_of_live(),
        Operation::Ready => health::description_of_ready(),
    }
}

fn describe_operation(operation: Operation, path: &str, description: Description) -> OperationBuilder {
    let has_guid = path.contains('{');
    let description = if has_guid { description.guid_in_path() } else { description };
    let refusals = refusals(operation, &description);
    let formats = if operation == Operation::AddCrashReport { &Format::ALL[..] } else { &[Format::Json] };
    let mut described = OperationBuilder::new()
        .operation_id(Some(operation.name()))
        .tag(tag(operation))
        .summary(Some(description.summary))
        .description(Some(description.text))
        .request_body(description.body);
    if !description.parameters.is_empty() {
        described = described.parameters(Some(description.parameters));
    }
    if !operation.is_open() {
        described = described.securities(Some(["MisKey", "HardwareHash"].map(requirement)));
    }
    for (status, response) in description.answers {
        described = described.response(status.as_str(), with_request_id(response));
    }
    for (status, messages) in refusals {
        let response = refusal(&messages, formats);
        let is_passing = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&status);
        let response = if is_passing && !operation.is_open() {
            response.header_ref(LATER, shared_header(LATER))
        } else {
            response
        };
        described = described.response(status.as_str(), response);
    }
    described
}

fn tag(operation: Operation) -> &'static str {
    match operation {
        Operation::AddResource
        | Operation::GetFile
        | Operation::DeleteResource
        | Operation::DeleteWithoutGuid
        | Operation::ListResources
        | Operation::ResourceInfo
        | Operation::FindByPmm => "Resources",
        Operation::AddLog | Operation::ListLogs | Operation::AddCrashReport => "Logs and crash reports",
        Operation::UpdateDeviceStatus => "Devices",
        _ => "Server",
    }
}

/// One credential with the headers that it needs (decision A2).
fn requirement(credential: &str) -> SecurityRequirement {
    const NO_SCOPES: [&str; 0] = [];
    SecurityRequirement::new(credential, NO_SCOPES).add("SerialNumber", NO_SCOPES).add("ApplicationVersion", NO_SCOPES)
}

/// Every refusal of an operation: its own, and those that come before its rules are asked.
fn refusals(operation: Operation, description: &Description) -> BTreeMap<StatusCode, Vec<&'static str>> {
    let mut all: Vec<(StatusCode, &str)> = Vec::new();
    let mut reasons = Vec::new();
    if description.body.is_some() {
        reasons.extend([Reason::BodyTooLarge, Reason::BodyTimedOut]);
    }
    if operation == Operation::AddCrashReport {
        let missing = [RequiredHeader::HardwareHash, RequiredHeader::SerialNumber, RequiredHeader::ApplicationVersion];
        reasons.extend(missing.map(Reason::CrashHeaderRequired));
        reasons.push(Reason::CrashHardwareHashInvalid);
    } else if !operation.is_open() {
        reasons.extend([Reason::HeadersRequired, Reason::MisKeyInvalid, Reason::HardwareHashInvalid]);
    }
    if !operation.is_open() {
        all.push(ApiError::Throttled { wait: Duration::ZERO }.answer());
        reasons.push(Reason::Overloaded);
    }
    all.extend(reasons.into_iter().map(|reason| ApiError::from(reason.because("")).answer()));
    all.extend(description.refusals.iter().map(ApiError::answer));
    all.push(ApiError::from(StoreError::other("")).answer());
    let mut by_status: BTreeMap<StatusCode, Vec<&str>> = BTreeMap::new();
    for (status, message) in all {
        let messages = by_status.entry(status).or_default();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    by_status
}

/// The answer that carries one of these messages.
fn refusal(messages: &[&'static str], formats: &[Format]) -> ResponseBuilder {
    let listed: Vec<String> = messages.iter().map(|message| format!("- `{message}`")).collect();
    let mut response = ResponseBuilder::new().description(listed.join("\n"));
    for format in formats {
        let schema: RefOr<Schema> = if format.is_xml() {
            schema::named("Error")
        } else {
            let own = schema::object("").property("Message", schema::words(messages));
            AllOfBuilder::new().item(schema::named("Error")).item(own).into()
        };
        response = response.content(format.media_type(), ContentBuilder::new().schema(Some(schema)).build());
    }
    with_request_id(response.header_ref(DETAIL, shared_header(DETAIL)))
}

fn with_request_id(response: ResponseBuilder) -> ResponseBuilder {
    response.header_ref(REQUEST_ID, shared_header(REQUEST_ID))
}

fn shared_header(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}

/// The headers that many answers carry.
fn shared_headers() -> [(&'static str, Header); 3] {
    let header = |text, schema| HeaderBuilder::new().description(Some(text)).schema(Some(schema)).build();
    let detail = header("Which value was refused and why, for people.", schema::text("").max_length(Some(300)));
    let usable = schema::text("").pattern(Some("^[A-Za-z0-9._-]{1,128}$"));
    let later = header("In how many seconds to send the request again.", schema::whole_number("").minimum(Some(1)));
    [(DETAIL, detail), (LATER, later), (REQUEST_ID, header("Names the request in the server's log.", usable))]
}

/// The body of every error (decision R2).
fn error_schema() -> impl Into<RefOr<Schema>> {
    schema::closed_object("The body of every error.")
        .property("Message", schema::text("Exact, and never changes; programs may compare it."))
        .required("Message")
}
