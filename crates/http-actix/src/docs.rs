//! The OpenAPI document in a browser: Swagger UI from within the program. Its pages ask nobody but
//! this server for anything, and the policy that goes with the first one holds them to it.

use crate::error::Fault;
use crate::reply::{Answer, Content};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use bytes::Bytes;
use domain::error::StoreError;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa_swagger_ui::{Config, SwaggerFile};

/// What the pages are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Page {
    Index,
    Start,
    Script,
    Style,
    Icon,
}

/// Swagger UI draws its icons from `data:` and writes its styles into the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

const START: &str = include_str!("docs/start.js");

/// Answers a page. `path` is as it was asked for: what the first page links to is relative to it, so
/// that the pages work behind a proxy that puts a path of its own before ours.
pub(crate) fn answer(page: Page, path: &str) -> Result<Answer, Fault> {
    match page {
        Page::Index => Ok(whole("text/html; charset=utf-8", index(path))
            .with(&CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))),
        Page::Start => Ok(whole("text/javascript; charset=utf-8", START)),
        Page::Script => asset("swagger-ui-bundle.js"),
        Page::Style => asset("swagger-ui.css"),
        Page::Icon => asset("favicon-32x32.png"),
    }
}

fn index(path: &str) -> String {
    let (document, here) = if path.ends_with('/') { ("../openapi.json", "") } else { ("openapi.json", "docs/") };
    include_str!("docs/index.html").replace("{document}", document).replace("{here}", here)
}

/// A file of Swagger UI, which is kept compressed.
fn asset(name: &'static str) -> Result<Answer, Fault> {
    let found = utoipa_swagger_ui::serve(name, Arc::new(Config::from(""))).ok().flatten();
    let Some(SwaggerFile { bytes, content_type, gzpipped, .. }) = found else {
        return Err(StoreError::Corrupt { what: "file of Swagger UI", id: name.to_owned() }.into());
    };
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let answer = whole(&content_type, bytes);
    Ok(if gzpipped { answer.with(&CONTENT_ENCODING, HeaderValue::from_static("gzip")) } else { answer })
}

fn whole(content_type: &str, content: impl Into<Bytes>) -> Answer {
    let content_type = HeaderValue::from_str(content_type).unwrap_or(HeaderValue::from_static("text/plain"));
    Answer::new(StatusCode::OK, Content::Whole(content.into()))
        .with(&CONTENT_TYPE, content_type)
        .with(&X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}
