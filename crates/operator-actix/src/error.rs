//! The one table from errors to answers: problems of RFC 9457.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, ResponseError};
use domain::body::BodyError;
use domain::error::{StoreError, error_chain};
use domain::operator::OperatorError;
use http_actix::RequestInfo;
use serde::Serialize;
use std::fmt;
use utoipa::ToSchema;

/// The content type of every error.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// `Retry-After` in seconds of a request that failed because of load.
const RETRY_SOON: u64 = 5;

/// Why a request of an operator failed.
#[derive(Debug)]
pub enum Problem {
    /// A use case failed, or a value of the request can't be used.
    Operator(OperatorError),
    /// No valid session or token was sent.
    Unauthenticated,
    /// A change that another site may have caused (decision P5).
    CrossSite,
    /// The body can't be read to its end.
    Body(BodyError),
    /// No route has this path.
    NotFound,
    /// The path doesn't have this method.
    MethodNotAllowed { allow: &'static str },
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        Self::Operator(error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Operator(error.into())
    }
}

/// The body of every error.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// What kind of problem it is: the words of the status.
    title: String,
    /// The status of the response.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What happened, for people.
    detail: String,
    /// Which values can't be used; absent where it isn't about values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<FieldError>,
}

/// A value that can't be used.
#[derive(Serialize, ToSchema)]
pub(crate) struct FieldError {
    field: String,
    message: String,
}

impl Problem {
    /// What happened, for people. It never says what a store said.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Operator(OperatorError::Store(StoreError::Overloaded)) => {
                "more arrives than can be done; send the request again later".to_owned()
            }
            Self::Operator(OperatorError::Store(_)) => {
                "the request failed on our side; the log has the cause under its X-Request-Id".to_owned()
            }
            Self::Operator(error) => error.to_string(),
            Self::Unauthenticated => "a valid session or token is required".to_owned(),
            Self::CrossSite => "a change must come from a page of this server".to_owned(),
            Self::Body(error) => error.to_string(),
            Self::NotFound => "there is nothing under this path".to_owned(),
            Self::MethodNotAllowed { allow } => format!("allowed is {allow}"),
        }
    }

    fn body(&self) -> ProblemBody {
        let status = self.status_code();
        let errors = match self {
            Self::Operator(OperatorError::Invalid { field, message }) => {
                vec![FieldError { field: (*field).to_owned(), message: message.clone() }]
            }
            _ => Vec::new(),
        };
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        ProblemBody { title, status: status.as_u16(), detail: self.detail(), errors }
    }

    /// The cause of an error of the server, for the log.
    fn cause(&self) -> Option<String> {
        match self {
            Self::Operator(OperatorError::Store(StoreError::Overloaded)) => None,
            Self::Operator(OperatorError::Store(error)) => Some(error_chain(error)),
            _ => None,
        }
    }

    /// Logs the cause of an error of the server.
    pub fn log(&self, request_id: &str) {
        if let Some(cause) = self.cause() {
            tracing::error!(request_id, cause, "a request of an operator failed on our side");
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.detail())
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Operator(error) => match error {
                OperatorError::NotFound(_) => StatusCode::NOT_FOUND,
                OperatorError::Forbidden(_) | OperatorError::SetupCodeInvalid => StatusCode::FORBIDDEN,
                OperatorError::Invalid { .. } => StatusCode::BAD_REQUEST,
                OperatorError::Conflict(_) => StatusCode::CONFLICT,
                OperatorError::Stale(_) => StatusCode::PRECONDITION_FAILED,
                OperatorError::WrongCredentials => StatusCode::UNAUTHORIZED,
                OperatorError::TooManyFailures { .. } => StatusCode::TOO_MANY_REQUESTS,
                OperatorError::Store(StoreError::Overloaded) => StatusCode::SERVICE_UNAVAILABLE,
                OperatorError::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
            },
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::CrossSite => StatusCode::FORBIDDEN,
            Self::Body(BodyError::TimedOut(_)) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(BodyError::TooLarge(_) | BodyError::DecodedTooLarge(_)) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyError::Malformed(_)) => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        response.insert_header((CONTENT_TYPE, PROBLEM_JSON)).insert_header((CACHE_CONTROL, "no-store"));
        match self {
            Self::Operator(OperatorError::TooManyFailures { retry_after }) => {
                response.insert_header((RETRY_AFTER, retry_after.as_secs_f64().ceil().to_string()));
            }
            Self::Operator(OperatorError::Store(StoreError::Overloaded)) => {
                response.insert_header((RETRY_AFTER, RETRY_SOON));
            }
            Self::Unauthenticated => {
                response.insert_header((WWW_AUTHENTICATE, "Bearer"));
            }
            Self::MethodNotAllowed { allow } => {
                response.insert_header((ALLOW, *allow));
            }
            _ => {}
        }
        // It is made of texts and numbers only, which always can be written.
        response.body(serde_json::to_string(&self.body()).unwrap_or_default())
    }
}

/// Logs the cause of a problem of the server under the request's id.
pub(crate) async fn log_problem(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let response = next.call(request).await?;
    if let Some(problem) = response.response().error().and_then(|error| error.as_error::<Problem>()) {
        problem.log(&RequestInfo::of(response.request()).id);
    }
    Ok(response)
}
