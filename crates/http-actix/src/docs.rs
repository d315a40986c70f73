//! The OpenAPI document, and Swagger UI that shows it in a browser. Its pages load nothing from other servers, and the
//! policy that goes with the first one makes browsers hold to that.

use crate::error::ApiError;
use crate::middleware::context::RequestContext;
use crate::response::Format;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use domain::error::StoreError;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa_swagger_ui::{Config, SwaggerFile};

/// Swagger UI draws its icons from `data:` and writes its styles into the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn document(document: Bytes) -> HttpResponse {
    HttpResponse::Ok().content_type(Format::Json.content_type()).body(document)
}

/// The page. What it links to is relative to the path as it was sent, for the same reason.
pub(crate) async fn index(request: HttpRequest) -> HttpResponse {
    let has_slash = RequestContext::of(&request).path().ends_with('/');
    let (document, here) = if has_slash { ("../openapi.json", "") } else { ("openapi.json", "docs/") };
    let page = include_str!("docs/index.html").replace("{document}", document).replace("{here}", here);
    page_of("text/html; charset=utf-8").insert_header((CONTENT_SECURITY_POLICY, POLICY)).body(page)
}

pub(crate) async fn start() -> HttpResponse {
    page_of("text/javascript; charset=utf-8").body(include_str!("docs/start.js"))
}

/// A file of Swagger UI, which is kept compressed.
pub(crate) async fn asset(name: Path<String>) -> Result<HttpResponse, ApiError> {
    let found = utoipa_swagger_ui::serve(&name, Arc::new(Config::from(""))).ok().flatten();
    let Some(SwaggerFile { bytes, content_type, gzpipped, .. }) = found else {
        return Err(StoreError::Corrupt { what: "file of Swagger UI", id: name.into_inner() }.into());
    };
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let mut response = page_of(&content_type);
    if gzpipped {
        response.insert_header((CONTENT_ENCODING, "gzip"));
    }
    Ok(response.body(bytes))
}

fn page_of(content_type: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.content_type(content_type).insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response
}
