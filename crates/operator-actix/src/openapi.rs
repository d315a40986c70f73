//! The OpenAPI document of the operator API. Each handler describes its operation by `#[utoipa::path]`; here is the list
//! of them, and what all operations have in common.

use crate::error::ProblemBody;
use crate::resources::HolderState;
use crate::{
    audit, computers, crash_groups, crash_reports, devices, logs, me, operators, organizations, overview, refusals,
    resources, search, tokens,
};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi as Document, Server};
use utoipa::{IntoResponses, Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Platen for operators",
        description = "What the console shows and does, for programs. Send a token: `Authorization: Bearer plt_…`. \
                       Errors are problems of RFC 9457. Lists answer pages: `next` of a page is `cursor` of the next one."
    ),
    paths(
        me::me,
        overview::overview,
        devices::list,
        devices::find,
        devices::history,
        devices::timeline,
        organizations::list,
        logs::list,
        logs::stream::follow,
        refusals::list,
        resources::list,
        resources::show,
        resources::content,
        resources::holders,
        resources::icc,
        operators::list,
        tokens::list,
         audit::list, crash_groups::list, crash_groups::find, crash_groups::change, crash_reports::list, crash_reports::find, crash_reports::part, computers::list, computers::find, computers::timeline, search::find),
    components(schemas(ProblemBody, HolderState)),
    security(("token" = []), ("session" = [])),
    modifiers(&Credentials)
)]
struct Api;

/// The document for a server with this base path, as JSON text.
#[must_use]
pub fn document(base_path: &str) -> String {
    let mut document = Api::openapi();
    let base = base_path.trim_matches('/');
    let separator = if base.is_empty() { "" } else { "/" };
    document.servers = Some(vec![Server::new(format!("/{base}{separator}api/operator/v1"))]);
    // It is made of texts and numbers only, which always can be written.
    document.to_pretty_json().unwrap_or_default()
}

/// What every operation may answer instead.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is only a description")]
pub(crate) enum Problems {
    /// A value of the request can't be used.
    #[response(status = 400, content_type = "application/problem+json")]
    Invalid(#[to_schema] ProblemBody),
    /// No valid session or token was sent.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthenticated(#[to_schema] ProblemBody),
    /// The operator's role doesn't allow it, or another site may have caused it.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(#[to_schema] ProblemBody),
    /// It doesn't exist, or the operator doesn't see it.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(#[to_schema] ProblemBody),
    /// It failed on our side.
    #[response(status = 500, content_type = "application/problem+json")]
    Failed(#[to_schema] ProblemBody),
    /// More arrives than can be done.
    #[response(status = 503, content_type = "application/problem+json")]
    Overloaded(#[to_schema] ProblemBody),
}

struct Credentials;

impl Modify for Credentials {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("plt_…").build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        let session = ApiKeyValue::with_description("platen_session", "The session of a browser.");
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_document_is_openapi_3_1_and_names_its_server() {
        for (base, server) in [("", "/api/operator/v1"), ("/print/cloud", "/print/cloud/api/operator/v1")] {
            let document: Value = serde_json::from_str(&document(base)).unwrap();
            assert_eq!(document["openapi"], "3.1.0");
            assert_eq!(document["servers"][0]["url"], server);
        }
    }

    #[test]
    fn every_schema_that_is_referred_to_is_there() {
        let document = document("");
        let value: Value = serde_json::from_str(&document).unwrap();
        for name in document.split("#/components/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(value.pointer(&format!("/components/{name}")).is_some(), "{name}");
        }
    }
}
