//! The one table from errors to responses: status, message and detail (interface part 7, decisions R3, R4, R11).

use crate::response::{Format, Message};
use crate::uploads::LimitReached;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CONTENT_RANGE, HeaderName, HeaderValue, RETRY_AFTER};
use actix_web::{HttpResponse, ResponseError};
use domain::error::{Failure, Reason, Refusal, RequiredHeader, StoreError, error_chain};
use domain::refusal;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The header for the detail of an error (decision R11).
pub(crate) const ERROR_DETAIL: HeaderName = HeaderName::from_static("x-error-detail");

/// `Retry-After` in seconds for a request that failed because of load or an unavailable store: longer than a request
/// waits for a permit (2 s) or for the database (4 s).
const RETRY_SOON: HeaderValue = HeaderValue::from_static("5");

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// A use case, or the reading of its input, failed.
    Failure(Failure),
    /// No route has this path.
    NotFound,
    /// The path doesn't have this method.
    MethodNotAllowed { allow: &'static str },
    /// The range lies outside of a file of `size` bytes.
    RangeNotSatisfiable { size: u64 },
    /// Requests of this client have failed to authenticate too often (ADR 42).
    Throttled { wait: Duration },
    /// Too many uploads run, and none ended in time (ADR 43).
    TooManyUploads { limit: LimitReached },
    /// A store that is needed can't be reached.
    NotReady,
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Failure(error.into())
    }
}

impl From<LimitReached> for ApiError {
    fn from(limit: LimitReached) -> Self {
        Self::TooManyUploads { limit }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message())
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status()
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status());
        let detail = HeaderValue::from_str(&self.detail()).ok().filter(|detail| !detail.is_empty());
        if let Some(detail) = detail {
            response.insert_header((ERROR_DETAIL, detail));
        }
        if let Some(wait) = self.retry_after() {
            response.insert_header((RETRY_AFTER, wait));
        }
        match self {
            Self::MethodNotAllowed { allow } => {
                response.insert_header((ALLOW, *allow));
            }
            Self::RangeNotSatisfiable { size } => {
                response.insert_header((CONTENT_RANGE, format!("bytes */{size}")));
            }
            _ => {}
        }
        response.content_type(Format::Json.content_type()).body(Format::Json.write(Message::Error(self.message())))
    }
}

impl ApiError {
    /// The failure of a store while the body of a response was sent.
    pub(crate) fn body_broke_off(error: &(dyn Error + 'static)) -> Self {
        StoreError::other(error_chain(error)).into()
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status_and_message().0
    }

    pub(crate) fn message(&self) -> &'static str {
        self.status_and_message().1
    }

    fn status_and_message(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, .. })) => refusal_status_and_message(*reason),
            Self::Failure(Failure::Store(_)) => (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
            Self::NotFound => (StatusCode::NOT_FOUND, "Not Found"),
            Self::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
            Self::RangeNotSatisfiable { .. } => (StatusCode::RANGE_NOT_SATISFIABLE, "Range Not Satisfiable"),
            Self::Throttled { .. } => (StatusCode::TOO_MANY_REQUESTS, "Too Many Requests"),
            Self::TooManyUploads { .. } | Self::NotReady => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
        }
    }

    /// The detail for the client (decision R11). It is empty for an error of the server (decision R4).
    pub(crate) fn detail(&self) -> Cow<'_, str> {
        match self {
            Self::Failure(Failure::Refused(Refusal { detail, .. })) => detail.as_str().into(),
            Self::NotFound => "no operation has this path".into(),
            Self::MethodNotAllowed { allow } => format!("this path takes {allow}").into(),
            Self::RangeNotSatisfiable { size } => format!("the file has {size} bytes").into(),
            Self::Throttled { .. } => "too many requests from this address failed to authenticate".into(),
            Self::TooManyUploads { limit: LimitReached::Organization } => {
                "the organization has too many uploads under way; send it again later".into()
            }
            Self::TooManyUploads { limit: LimitReached::All } => {
                "too many uploads are under way; send it again later".into()
            }
            Self::Failure(Failure::Store(_)) | Self::NotReady => "".into(),
        }
    }

    /// The value of `Retry-After`, where the same request may succeed later.
    pub(crate) fn retry_after(&self) -> Option<HeaderValue> {
        match self {
            Self::Failure(
                Failure::Refused(Refusal { reason: Reason::Overloaded, .. })
                | Failure::Store(StoreError::Unavailable(_)),
            )
            | Self::TooManyUploads { .. } => Some(RETRY_SOON),
            Self::Throttled { wait } => Some(whole_seconds(*wait)),
            _ => None,
        }
    }

    /// The code in metrics, logs and the records of refusals; `None` for an error of the server.
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, .. })) => Some(reason.code()),
            Self::NotFound => Some(refusal::PATH_UNKNOWN),
            Self::MethodNotAllowed { .. } => Some(refusal::METHOD_NOT_ALLOWED),
            Self::RangeNotSatisfiable { .. } => Some("range_not_satisfiable"),
            Self::Throttled { .. } => Some("authentication_throttled"),
            Self::TooManyUploads { .. } => Some("too_many_uploads"),
            Self::Failure(Failure::Store(_)) | Self::NotReady => None,
        }
    }

    /// Whether the refusal is recorded: every one whose cause the client may have to fix.
    pub(crate) fn is_recorded(&self) -> bool {
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, .. })) => refusal::is_recorded(*reason),
            Self::NotFound | Self::MethodNotAllowed { .. } => true,
            // A range after the end of a complete file; a client whose failures were recorded before; load.
            Self::RangeNotSatisfiable { .. }
            | Self::Throttled { .. }
            | Self::TooManyUploads { .. }
            | Self::Failure(Failure::Store(_))
            | Self::NotReady => false,
        }
    }

    /// The chain of causes, for the log only.
    pub(crate) fn cause(&self) -> Option<String> {
        let Self::Failure(Failure::Store(error)) = self else {
            return None;
        };
        Some(error_chain(error))
    }
}

/// A wait in whole seconds, at least one.
fn whole_seconds(wait: Duration) -> HeaderValue {
    HeaderValue::from(wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX))
}

/// Status and message of each refusal, byte for byte as part 7 of the interface and the decisions
/// give them.
fn refusal_status_and_message(reason: Reason) -> (StatusCode, &'static str) {
    const BAD: StatusCode = StatusCode::BAD_REQUEST;
    const UNAUTHORIZED: StatusCode = StatusCode::UNAUTHORIZED;
    const MISSING: StatusCode = StatusCode::NOT_FOUND;
    match reason {
        Reason::HeadersRequired => {
            (UNAUTHORIZED, "“MisKey” or “HardwareHash”, “SerialNumber” and “ApplicationVersion” header are required")
        }
        Reason::MisKeyInvalid => (UNAUTHORIZED, "Invalid MisKey"),
        Reason::HardwareHashInvalid => (UNAUTHORIZED, "Invalid HardwareHash"),
        Reason::CrashHeaderRequired(header) => (
            UNAUTHORIZED,
            match header {
                RequiredHeader::HardwareHash => "“HardwareHash” header required",
                RequiredHeader::SerialNumber => "“SerialNumber” header required",
                RequiredHeader::ApplicationVersion => "“ApplicationVersion” header required",
            },
        ),
        Reason::CrashHardwareHashInvalid => (UNAUTHORIZED, "“HardwareHash” header is invalid"),
        Reason::NotProperlyFormatted => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "This request is not properly formatted"),
        Reason::JsonExpected => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Expected type: application/json"),
        Reason::JsonInvalid => (BAD, "Request body is not valid JSON"),
        Reason::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Request body too large"),
        Reason::BodyTimedOut => (StatusCode::REQUEST_TIMEOUT, "Request Timeout"),
        Reason::ResourceFieldsRequired => (BAD, "“ResourceGUID”, “ResourceChecksum” and “ResourceType” are required"),
        Reason::ResourceGuidInvalid => (BAD, "“ResourceGUID” is not a valid GUID"),
        Reason::MetaNameRequired => (BAD, "“Meta.Name” is required"),
        Reason::MetaProfileRequired => (BAD, "“Meta.MediaType” and “Meta.ProfileGroup” are required for NormalProfile"),
        Reason::DomainInvalid => (BAD, "“Domain” must be Private or Public"),
        Reason::TimestampInvalid => (BAD, "Validation of Timestamp failed"),
        Reason::FileMissing => (BAD, "No input file specified"),
        Reason::FileNotSingle => (BAD, "Only one input file is accepted"),
        Reason::ChecksumMismatch => (BAD, "“ResourceChecksum” does not match the content"),
        Reason::ResourceNotFound => (MISSING, "ResourceGUID not found"),
        Reason::ResourceToDeleteNotFound => (MISSING, "ResourceGUID is not found"),
        Reason::ResourceNoAccess => (UNAUTHORIZED, "ResourceGUID no access"),
        Reason::ResourceGuidMissing => (BAD, "“ResourceGUID” value required"),
        Reason::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "Precondition Failed"),
        Reason::ResourceInUse => (BAD, "Resource still in use"),
        Reason::ResourceTypesRequired => (BAD, "“ResourceTypes” is required"),
        Reason::PmmValuesRequired => (BAD, "“ProfileGroup”, “Media” and “Mode” values are required"),
        Reason::PmmNotFound => (MISSING, "PMM not found"),
        Reason::LogFieldsRequired => (BAD, "“ComputerGUID”, “Type” and “Description” values are required"),
        Reason::DateTimeInvalid => (BAD, "“DateTime” is not valid"),
        Reason::LogTypeInvalid => (BAD, "“LogType” must be Log or Configuration"),
        Reason::ComputerNotFound => (MISSING, "ComputerGUID is not found"),
        Reason::DeviceNotFound => (MISSING, "DeviceGUID is not found"),
        Reason::QueueNotFound => (MISSING, "QueueGUID is not found"),
        Reason::JobNotFound => (MISSING, "JobGUID is not found"),
        Reason::CallStackRequired => (BAD, "“CallStack” is required"),
        Reason::DeviceGuidRequired => (BAD, "DeviceGUID value required"),
        Reason::StatusInvalid => {
            (BAD, "“Status” value is required: Error, Idle, Offline, Printing, Aborting, Sleeping or Calibrating")
        }
        Reason::TemperatureInvalid => (BAD, "“Temperature” must be a number"),
        Reason::ConnectionStateInvalid => (BAD, "“ConnectionState” must be Online, Offline or Unstable"),
        Reason::RemainingInksInvalid => (BAD, "“RemainingInks” items require InkIndex, InkName, Level and MaxLevel"),
        Reason::QueueLengthInvalid => (BAD, "“QueueLength” must contain one of Length, Area or Sheets"),
        Reason::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
    }
}
