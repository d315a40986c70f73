//! The page that says what went wrong, under the id of the request.

use crate::layout::{Layout, page_of};
use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use domain::operator::{OperatorError, SignedIn};
use operator_actix::error::Problem;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    layout: Layout,
    status: u16,
    /// What happened.
    detail: String,
    /// What to do about it.
    advice: &'static str,
}

/// The page of a problem, with the signed-in operator in its head.
pub(crate) fn error_page(request: &HttpRequest, problem: &Problem, signed_in: Option<&SignedIn>) -> HttpResponse {
    let status = problem.status_code();
    let title = status.canonical_reason().unwrap_or("Error");
    let layout = match signed_in {
        Some(signed_in) => Layout::signed_in(request, title, "-", signed_in),
        None => Layout::open(request, title),
    };
    problem.log(&layout.request_id);
    let mut response = HttpResponse::build(status);
    if let Some(wait) = retry_after(problem) {
        response.insert_header((RETRY_AFTER, wait));
    }
    let detail = problem.detail();
    page_of(response, &ErrorPage { layout, status: status.as_u16(), detail, advice: advice(status) })
}

/// In how many seconds to try again.
pub(crate) fn retry_after(problem: &Problem) -> Option<String> {
    match problem {
        Problem::Operator(OperatorError::TooManyFailures { retry_after }) => {
            Some(retry_after.as_secs_f64().ceil().to_string())
        }
        _ => None,
    }
}

fn advice(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN => "Ask an admin, or open the page again and repeat what you did.",
        StatusCode::NOT_FOUND => "Check the address, or go on from the start page.",
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "Wait a little, then try again.",
        StatusCode::INTERNAL_SERVER_ERROR => "Try again. If it happens again, tell your administrator the request id.",
        _ => "Go back and try again.",
    }
}
