//! The errors of use cases and of stores.
//!
//! [`Reason`] lists every refusal of the interface and of the decisions; the HTTP adapter alone
//! knows the status and the message of each. There is one list for all operations because most
//! reasons are shared by several, and one list is what the table of answers, the metrics and the
//! refusal records all need.

use crate::detail::Detail;
use std::error::Error;

/// The result of a use case.
pub type Outcome<T> = Result<T, Failure>;

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The request is wrong; the client gets the reason.
    #[error("refused: {:?} ({})", .0.reason, .0.detail)]
    Refused(Refusal),
    /// We are at fault: 500, with the cause in our log only (decision R4).
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Reason::Overloaded.because("more arrives than can be done; send it again later"),
            other => Self::Store(other),
        }
    }
}

/// A refused request, with the detail for `X-Error-Detail` (decision R11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    pub detail: Detail,
}

/// Every reason to refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Decision A2.
    HeadersRequired,
    /// Decision A3.
    MisKeyInvalid,
    /// Decision A3.
    HardwareHashInvalid,
    /// Decision A5: crash report without this header.
    CrashHeaderRequired(RequiredHeader),
    /// Decision A5.
    CrashHardwareHashInvalid,
    /// 415 of the multipart operations (decisions T12, C2).
    NotProperlyFormatted,
    /// 415 of the JSON operations (decision R6).
    JsonExpected,
    /// Decision R3.
    JsonInvalid,
    /// Decision R3.
    BodyTooLarge,
    /// Decision R3.
    BodyTimedOut,
    /// Decision T7.
    ResourceFieldsRequired,
    /// Decision R7.
    ResourceGuidInvalid,
    /// Decision T8.
    MetaNameRequired,
    /// Decision T8.
    MetaProfileRequired,
    /// Decision T10.
    DomainInvalid,
    /// Decision T2.
    TimestampInvalid,
    /// Decision T12.
    FileMissing,
    /// Decision T11.
    FileNotSingle,
    /// Decision T6.
    ChecksumMismatch,
    /// File and info (interface part 7).
    ResourceNotFound,
    /// Delete words it differently (interface part 7).
    ResourceToDeleteNotFound,
    /// Decision T15.
    ResourceNoAccess,
    /// Decision T16.
    ResourceGuidMissing,
    /// Decision T17.
    PreconditionFailed,
    /// Decision O3.
    ResourceInUse,
    /// Decision T19.
    ResourceTypesRequired,
    /// Decision T20.
    PmmValuesRequired,
    /// Interface part 7.
    PmmNotFound,
    /// Decisions L1, L7.
    LogFieldsRequired,
    /// Decision L6.
    DateTimeInvalid,
    /// Decision L6.
    LogTypeInvalid,
    /// Interface part 7.
    ComputerNotFound,
    /// Interface part 7.
    DeviceNotFound,
    /// Interface part 7.
    QueueNotFound,
    /// Interface part 7.
    JobNotFound,
    /// Decision C2.
    CallStackRequired,
    /// Decision D1.
    DeviceGuidRequired,
    /// Decision D2.
    StatusInvalid,
    /// Decision D4.
    TemperatureInvalid,
    /// Decision D4.
    ConnectionStateInvalid,
    /// Decision D4.
    RemainingInksInvalid,
    /// Decision D3.
    QueueLengthInvalid,
    /// More arrives than can be stored; the same request may succeed later.
    Overloaded,
}

/// The headers that a crash report names one by one (decision A5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequiredHeader {
    HardwareHash,
    SerialNumber,
    ApplicationVersion,
}

impl Reason {
    /// Refuses with this reason and `detail`.
    #[must_use]
    pub fn because(self, detail: impl AsRef<str>) -> Failure {
        Failure::Refused(Refusal { reason: self, detail: Detail::new(detail.as_ref()) })
    }

    /// The word for this reason in metrics, logs and the records of refusals. It never changes once
    /// it is out: dashboards and records hold it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::HeadersRequired => "headers_required",
            Self::MisKeyInvalid => "mis_key_invalid",
            Self::HardwareHashInvalid => "hardware_hash_invalid",
            Self::CrashHeaderRequired(RequiredHeader::HardwareHash) => "crash_header_required_hardware_hash",
            Self::CrashHeaderRequired(RequiredHeader::SerialNumber) => "crash_header_required_serial_number",
            Self::CrashHeaderRequired(RequiredHeader::ApplicationVersion) => {
                "crash_header_required_application_version"
            }
            Self::CrashHardwareHashInvalid => "crash_hardware_hash_invalid",
            Self::NotProperlyFormatted => "not_properly_formatted",
            Self::JsonExpected => "json_expected",
            Self::JsonInvalid => "json_invalid",
            Self::BodyTooLarge => "body_too_large",
            Self::BodyTimedOut => "body_timed_out",
            Self::ResourceFieldsRequired => "resource_fields_required",
            Self::ResourceGuidInvalid => "resource_guid_invalid",
            Self::MetaNameRequired => "meta_name_required",
            Self::MetaProfileRequired => "meta_profile_required",
            Self::DomainInvalid => "domain_invalid",
            Self::TimestampInvalid => "timestamp_invalid",
            Self::FileMissing => "file_missing",
            Self::FileNotSingle => "file_not_single",
            Self::ChecksumMismatch => "checksum_mismatch",
            Self::ResourceNotFound => "resource_not_found",
            Self::ResourceToDeleteNotFound => "resource_to_delete_not_found",
            Self::ResourceNoAccess => "resource_no_access",
            Self::ResourceGuidMissing => "resource_guid_missing",
            Self::PreconditionFailed => "precondition_failed",
            Self::ResourceInUse => "resource_in_use",
            Self::ResourceTypesRequired => "resource_types_required",
            Self::PmmValuesRequired => "pmm_values_required",
            Self::PmmNotFound => "pmm_not_found",
            Self::LogFieldsRequired => "log_fields_required",
            Self::DateTimeInvalid => "date_time_invalid",
            Self::LogTypeInvalid => "log_type_invalid",
            Self::ComputerNotFound => "computer_not_found",
            Self::DeviceNotFound => "device_not_found",
            Self::QueueNotFound => "queue_not_found",
            Self::JobNotFound => "job_not_found",
            Self::CallStackRequired => "call_stack_required",
            Self::DeviceGuidRequired => "device_guid_required",
            Self::StatusInvalid => "status_invalid",
            Self::TemperatureInvalid => "temperature_invalid",
            Self::ConnectionStateInvalid => "connection_state_invalid",
            Self::RemainingInksInvalid => "remaining_inks_invalid",
            Self::QueueLengthInvalid => "queue_length_invalid",
            Self::Overloaded => "overloaded",
        }
    }
}

/// An error and its causes, outermost first, for the log and the operator. A cause is left out if the text before it
/// ends with it.
#[must_use]
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut output = error.to_string();
    for cause in std::iter::successors(error.source(), |&error| error.source()).map(ToString::to_string) {
        if !output.ends_with(&cause) {
            output = format!("{output}: {cause}");
        }
    }
    output
}

/// What a port reports when a store can't do its work. None of it reaches a client.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store can't be reached or has no room for us now; the same call may succeed later.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// More arrives than the store can take, and enough waits already: nothing was begun.
    #[error("more arrives than the store can take")]
    Overloaded,
    /// What is stored contradicts itself.
    #[error("{what} is damaged or missing: {id}")]
    Corrupt { what: &'static str, id: String },
    /// Any other failure.
    #[error("the store failed")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Wraps any other failure.
    pub fn other(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(source.into())
    }

    /// Wraps a failure that may pass.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
}

/// Why a write failed, and whether it may be stored all the same.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Nothing is stored, and nothing will be.
    #[error(transparent)]
    NotStored(StoreError),
    /// It may be stored, now or later: the answer to the commit was lost or came too late.
    #[error(transparent)]
    InDoubt(StoreError),
}

impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::NotStored(error),
            error => Self::InDoubt(error),
        }
    }
}

impl From<WriteError> for StoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::NotStored(error) | WriteError::InDoubt(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{StoreError, error_chain};

    #[test]
    fn an_error_is_told_with_all_that_caused_it() {
        let error = StoreError::unavailable(StoreError::other("the disk is full"));
        assert_eq!(error_chain(&error), "the store is unavailable: the store failed: the disk is full");
    }

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let error = StoreError::other(std::io::Error::other(std::io::Error::other("refused")));
        assert_eq!(error_chain(&error), "the store failed: refused");
    }
}
