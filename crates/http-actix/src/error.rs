//! The one table of answers to whatever goes wrong: status, message and particulars (interface part
//! 7, decisions R3, R4, R11). Nothing else in this crate knows the wording of an error.

use crate::format::{Format, Message};
use crate::reply::Answer;
use crate::uploads::Full;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CONTENT_RANGE, HeaderName, HeaderValue, RETRY_AFTER};
use domain::detail::Detail;
use domain::error::{Failure, Reason, Refusal, RequiredHeader, StoreError, error_chain};
use domain::refusal;
use std::time::Duration;

/// The header for the particulars of an error (decision R11).
pub(crate) const ERROR_DETAIL: HeaderName = HeaderName::from_static("x-error-detail");

/// In how many seconds a request is worth another try that found too many others waiting: twice as long as
/// it waited itself.
const SOON: HeaderValue = HeaderValue::from_static("5");

/// Why a request isn't answered as it was meant.
#[derive(Debug)]
pub(crate) enum Fault {
    /// What a use case, or the reading of its input, ended with.
    Failure(Failure),
    /// No operation has this path.
    NotFound,
    /// The path has other methods.
    MethodNotAllowed { allow: String },
    /// The range lies outside of a file of this many bytes.
    RangeNotSatisfiable { size: u64 },
    /// Requests of this client have failed to authenticate too often (ADR 42).
    Throttled { wait: Duration },
    /// As many uploads are under way as may be, and waiting was in vain (ADR 43).
    TooManyUploads { full: Full },
    /// A store that we need can't be reached.
    NotReady,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Failure(error.into())
    }
}

impl Fault {
    /// Status and message.
    pub(crate) fn words(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, .. })) => wording(*reason),
            Self::Failure(Failure::Store(_)) => (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
            Self::NotFound => (StatusCode::NOT_FOUND, "Not Found"),
            Self::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
            Self::RangeNotSatisfiable { .. } => (StatusCode::RANGE_NOT_SATISFIABLE, "Range Not Satisfiable"),
            Self::Throttled { .. } => (StatusCode::TOO_MANY_REQUESTS, "Too Many Requests"),
            Self::TooManyUploads { .. } | Self::NotReady => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
        }
    }

    /// The answer in `format`. It tells nothing of a cause on our side (decision R4).
    pub(crate) fn answer(&self, format: Format) -> Answer {
        let (status, message) = self.words();
        let answer = Answer::message(status, format, Message::Error(message));
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, detail })) => {
                let answer = answer.with(&ERROR_DETAIL, detail_value(detail));
                if *reason == Reason::Overloaded { answer.with(&RETRY_AFTER, SOON) } else { answer }
            }
            Self::NotFound => answer.with(&ERROR_DETAIL, HeaderValue::from_static("no operation has this path")),
            Self::MethodNotAllowed { allow } => {
                let detail = Detail::new(&format!("this path takes {allow}"));
                answer.with(&ALLOW, header_value(allow)).with(&ERROR_DETAIL, detail_value(&detail))
            }
            Self::RangeNotSatisfiable { size } => {
                let detail = Detail::new(&format!("the file has {size} bytes"));
                answer
                    .with(&CONTENT_RANGE, header_value(&format!("bytes */{size}")))
                    .with(&ERROR_DETAIL, detail_value(&detail))
            }
            Self::Throttled { wait } => {
                let detail = HeaderValue::from_static("too many requests from this address failed to authenticate");
                answer.with(&RETRY_AFTER, seconds(*wait)).with(&ERROR_DETAIL, detail)
            }
            Self::TooManyUploads { full } => {
                let detail = HeaderValue::from_static(match full {
                    Full::Organization => "the organization has too many uploads under way; send it again later",
                    Full::All => "too many uploads are under way; send it again later",
                });
                answer.with(&RETRY_AFTER, SOON).with(&ERROR_DETAIL, detail)
            }
            Self::Failure(Failure::Store(_)) | Self::NotReady => answer,
        }
    }

    /// The word for it in metrics, logs and the records of refusals; `None` where we are at fault.
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, .. })) => Some(reason.code()),
            Self::NotFound => Some("path_unknown"),
            Self::MethodNotAllowed { .. } => Some("method_not_allowed"),
            Self::RangeNotSatisfiable { .. } => Some("range_not_satisfiable"),
            Self::Throttled { .. } => Some("authentication_throttled"),
            Self::TooManyUploads { .. } => Some("too_many_uploads"),
            Self::Failure(Failure::Store(_)) | Self::NotReady => None,
        }
    }

    /// Whether the refusal is recorded: all that the client may have to mend.
    pub(crate) fn is_recorded(&self) -> bool {
        match self {
            Self::Failure(Failure::Refused(Refusal { reason, .. })) => refusal::is_recorded(*reason),
            Self::NotFound | Self::MethodNotAllowed { .. } => true,
            // Past the end of a file that was downloaded whole; after failures that are recorded themselves; for load.
            Self::RangeNotSatisfiable { .. }
            | Self::Throttled { .. }
            | Self::TooManyUploads { .. }
            | Self::Failure(Failure::Store(_))
            | Self::NotReady => false,
        }
    }

    /// The cause and what caused it, for our log only.
    pub(crate) fn cause(&self) -> Option<String> {
        let Self::Failure(Failure::Store(error)) = self else {
            return None;
        };
        Some(error_chain(error))
    }
}

/// What is answered to a request whose head can't be read as HTTP.
pub(crate) const UNREADABLE: [(StatusCode, &str); 3] = [
    (StatusCode::BAD_REQUEST, "Bad Request"),
    (StatusCode::REQUEST_TIMEOUT, "Request Timeout"),
    (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large"),
];

/// The message for a head that can't be read; its status comes from below.
pub(crate) fn unreadable_head(status: StatusCode) -> &'static str {
    let found = UNREADABLE.iter().find(|(known, _)| *known == status);
    match found {
        Some((_, message)) => message,
        None if status == StatusCode::INTERNAL_SERVER_ERROR => "Internal Server Error",
        None => "Bad Request",
    }
}

/// A wait in whole seconds, at least one.
fn seconds(wait: Duration) -> HeaderValue {
    HeaderValue::from(wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX))
}

fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// The particulars as a header.
pub(crate) fn detail_value(detail: &Detail) -> HeaderValue {
    header_value(detail.as_str())
}

/// Status and message of each refusal, byte for byte as part 7 of the interface and the decisions
/// give them.
fn wording(reason: Reason) -> (StatusCode, &'static str) {
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
