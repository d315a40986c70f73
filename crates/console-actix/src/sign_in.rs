//! Signing in and out (decisions P3, P4).

use crate::errors::retry_after;
use crate::form::Form;
use crate::layout::{Layout, page, page_of, root};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, LOCATION, RETRY_AFTER};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use domain::operator::{OperatorError, Password};
use domain::session::{SessionService, SignIn, StartedSession};
use http_actix::RequestInfo;
use operator_actix::authenticate::{Caller, find_caller};
use operator_actix::cookie;
use operator_actix::error::Problem;
use operator_actix::query::Query;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use std::net::IpAddr;

/// Headers of htmx: that a script asks for a part of a page, and that it loads the page anew.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HX_REFRESH: HeaderName = HeaderName::from_static("hx-refresh");

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    layout: Layout,
    name: String,
    /// The page that is shown next.
    next: String,
    /// What went wrong; empty at first.
    problem: String,
}

/// The page that was asked for before.
#[derive(Deserialize)]
pub(crate) struct Next {
    #[serde(default)]
    next: String,
}

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// It has no members; that it was sent says it all.
#[derive(Deserialize)]
pub(crate) struct SignOutForm {}

/// `GET /console/sign-in`
pub(crate) async fn show(request: HttpRequest, next: Query<Next>) -> Result<HttpResponse, Problem> {
    let next = page_of_console(&request, &next.0.next);
    if find_caller(&request).await?.is_some() {
        return Ok(see_other(&next));
    }
    let layout = Layout::open(&request, "Sign in");
    let shown = SignInPage { layout, name: String::new(), next, problem: String::new() };
    Ok(page(StatusCode::OK, &shown))
}

/// `POST /console/sign-in`
pub(crate) async fn sign_in(
    request: HttpRequest,
    form: Form<SignInForm>,
    sessions: Data<SessionService>,
) -> Result<HttpResponse, Problem> {
    let SignInForm { name, password, next } = form.0;
    let next = page_of_console(&request, &next);
    let asked = SignIn { name: name.clone(), password: Password::new(password), address: client(&request) };
    match sessions.sign_in(asked).await {
        Ok(started) => Ok(begin(&request, &started, &next)),
        Err(error @ (OperatorError::WrongCredentials | OperatorError::TooManyFailures { .. })) => {
            let problem = Problem::from(error);
            let mut response = HttpResponse::build(problem.status_code());
            if let Some(wait) = retry_after(&problem) {
                response.insert_header((RETRY_AFTER, wait));
            }
            let layout = Layout::open(&request, "Sign in");
            Ok(page_of(response, &SignInPage { layout, name, next, problem: sentence(&problem.detail()) }))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /console/sign-out`
pub(crate) async fn sign_out(
    request: HttpRequest,
    caller: Caller,
    _: Form<SignOutForm>,
    sessions: Data<SessionService>,
) -> Result<HttpResponse, Problem> {
    sessions.sign_out(&caller.signed_in, client(&request)).await?;
    let mut response = see_other(&format!("{}/sign-in", root(&request)));
    // A cookie of these parts is always a header.
    let _ = response.add_cookie(&cookie::ended(&request));
    Ok(response)
}

/// Begins a session and shows a page.
pub(crate) fn begin(request: &HttpRequest, started: &StartedSession, next: &str) -> HttpResponse {
    let mut response = see_other(next);
    let _ = response.add_cookie(&cookie::begun(request, &started.secret));
    response
}

/// Leads to the sign-in, and from there back to the page of a request that only reads.
pub(crate) fn to_sign_in(request: &HttpRequest) -> HttpResponse {
    let root = root(request);
    if request.headers().contains_key(HX_REQUEST) {
        // A part of a page that asks for itself again: the whole page is loaded, and leads here.
        return HttpResponse::Unauthorized().insert_header((HX_REFRESH, "true")).finish();
    }
    let asked = request.uri().path_and_query().map_or("", |path| path.as_str());
    if !request.method().is_safe() || asked == root {
        return see_other(&format!("{root}/sign-in"));
    }
    see_other(&format!("{root}/sign-in?next={}", utf8_percent_encode(asked, NON_ALPHANUMERIC)))
}

/// Shows another page.
pub(crate) fn see_other(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, path)).finish()
}

/// The client's address.
pub(crate) fn client(request: &HttpRequest) -> Option<IpAddr> {
    RequestInfo::of(request).client
}

/// A page of the console that may be shown next; the start page for all else, which may be another site.
fn page_of_console(request: &HttpRequest, next: &str) -> String {
    let root = root(request);
    let is_own = is_below(&root, next);
    if is_own { next.to_owned() } else { root }
}

fn is_below(root: &str, path: &str) -> bool {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let rest = path.strip_prefix(root);
    is_plain && rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(['/', '?']) && !rest.starts_with("//")))
}

/// A text as a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_one_of_the_console() {
        for path in ["/console", "/console/password", "/console?a=b", "/console/logs?q=%2F%2Fx"] {
            assert!(is_below("/console", path), "{path}");
        }
        for path in
            ["", "/", "//evil.example", "/console//evil", "https://evil.example/console", "/consoles", "/console/\\x"]
        {
            assert!(!is_below("/console", path), "{path}");
        }
        assert!(!is_below("/console", "/console/a\r\nset-cookie: x"));
    }

    #[test]
    fn a_detail_is_shown_as_a_sentence() {
        assert_eq!(sentence("the name or the password is wrong"), "The name or the password is wrong.");
    }
}
