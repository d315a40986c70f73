//! Responses of operations for the OpenAPI document. Statuses and messages of refusals come from the table in `error.rs`.

use crate::error::ApiError;
use crate::response::Format;
use actix_web::http::StatusCode;
use domain::error::{Reason, StoreError};
use std::collections::BTreeMap;
use std::iter;
use std::time::Duration;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder, Schema};

/// The responses of an operation by status.
pub(crate) type Responses = BTreeMap<String, RefOr<Response>>;

/// The body of every error.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only a schema")]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[schema(as = Error)]
pub(super) struct ErrorBody {
    /// Exact, and never changes; programs may compare it.
    message: &'static str,
}

/// The schema of a text that is one of these words.
pub(crate) fn words(description: &str, allowed: &[&str]) -> ObjectBuilder {
    let description = Some(description).filter(|description| !description.is_empty());
    ObjectBuilder::new().schema_type(Type::String).description(description).enum_values(Some(allowed.iter().copied()))
}

/// The responses of an operation that asks for credentials and refuses requests for `reasons`.
pub(crate) fn refusals(reasons: impl IntoIterator<Item = Reason>) -> Responses {
    let credentials = [Reason::HeadersRequired, Reason::MisKeyInvalid, Reason::HardwareHashInvalid];
    error_responses(&[Format::Json], with_credentials(credentials.into_iter().chain(reasons)))
}

/// `reasons`, and what any operation that asks for credentials refuses in addition.
pub(crate) fn with_credentials(reasons: impl IntoIterator<Item = Reason>) -> impl Iterator<Item = ApiError> {
    let reasons = iter::once(Reason::Overloaded).chain(reasons);
    let errors = [ApiError::Throttled { wait: Duration::ZERO }, StoreError::other("").into()];
    errors.into_iter().chain(reasons.map(|reason| reason.because("").into()))
}

/// For each status of `errors` the response that carries one of its messages, in each format.
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

/// A header of which `openapi.rs` holds the description.
pub(super) fn shared_header(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}
