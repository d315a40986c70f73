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

/// Defines [`Reason`] with the word for each.
macro_rules! reasons {
    ($($(#[$about:meta])+ $reason:ident = $code:literal,)+) => {
        /// Every reason to refuse a request.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[$about])+ $reason,)+
            /// Decision A5: crash report without this header.
            CrashHeaderRequired(RequiredHeader),
        }

        impl Reason {
            pub const ALL: &[Self] = &[
                $(Self::$reason,)+
                Self::CrashHeaderRequired(RequiredHeader::HardwareHash),
                Self::CrashHeaderRequired(RequiredHeader::SerialNumber),
                Self::CrashHeaderRequired(RequiredHeader::ApplicationVersion),
            ];

            /// The word for this reason in metrics, logs and the records of refusals. It never changes once
            /// it is out: dashboards and records hold it.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$reason => $code,)+
                    Self::CrashHeaderRequired(RequiredHeader::HardwareHash) => "crash_header_required_hardware_hash",
                    Self::CrashHeaderRequired(RequiredHeader::SerialNumber) => "crash_header_required_serial_number",
                    Self::CrashHeaderRequired(RequiredHeader::ApplicationVersion) => {
                        "crash_header_required_application_version"
                    }
                }
            }
        }
    };
}

reasons! {
    /// Decision A2.
    HeadersRequired = "headers_required",
    /// Decision A3.
    MisKeyInvalid = "mis_key_invalid",
    /// Decision A3.
    HardwareHashInvalid = "hardware_hash_invalid",
    /// Decision A5.
    CrashHardwareHashInvalid = "crash_hardware_hash_invalid",
    /// 415 of the multipart operations (decisions T12, C2).
    NotProperlyFormatted = "not_properly_formatted",
    /// 415 of the JSON operations (decision R6).
    JsonExpected = "json_expected",
    /// Decision R3.
    JsonInvalid = "json_invalid",
    /// Decision R3.
    BodyTooLarge = "body_too_large",
    /// Decision R3.
    BodyTimedOut = "body_timed_out",
    /// Decision T7.
    ResourceFieldsRequired = "resource_fields_required",
    /// Decision R7.
    ResourceGuidInvalid = "resource_guid_invalid",
    /// Decision T8.
    MetaNameRequired = "meta_name_required",
    /// Decision T8.
    MetaProfileRequired = "meta_profile_required",
    /// Decision T10.
    DomainInvalid = "domain_invalid",
    /// Decision T2.
    TimestampInvalid = "timestamp_invalid",
    /// Decision T12.
    FileMissing = "file_missing",
    /// Decision T11.
    FileNotSingle = "file_not_single",
    /// Decision T6.
    ChecksumMismatch = "checksum_mismatch",
    /// File and info (interface part 7).
    ResourceNotFound = "resource_not_found",
    /// Delete words it differently (interface part 7).
    ResourceToDeleteNotFound = "resource_to_delete_not_found",
    /// Decision T15.
    ResourceNoAccess = "resource_no_access",
    /// Decision T16.
    ResourceGuidMissing = "resource_guid_missing",
    /// Decision T17.
    PreconditionFailed = "precondition_failed",
    /// Decision O3.
    ResourceInUse = "resource_in_use",
    /// Decision T19.
    ResourceTypesRequired = "resource_types_required",
    /// Decision T20.
    PmmValuesRequired = "pmm_values_required",
    /// Interface part 7.
    PmmNotFound = "pmm_not_found",
    /// Decisions L1, L7.
    LogFieldsRequired = "log_fields_required",
    /// Decision L6.
    DateTimeInvalid = "date_time_invalid",
    /// Decision L6.
    LogTypeInvalid = "log_type_invalid",
    /// Interface part 7.
    ComputerNotFound = "computer_not_found",
    /// Interface part 7.
    DeviceNotFound = "device_not_found",
    /// Interface part 7.
    QueueNotFound = "queue_not_found",
    /// Interface part 7.
    JobNotFound = "job_not_found",
    /// Decision C2.
    CallStackRequired = "call_stack_required",
    /// Decision D1.
    DeviceGuidRequired = "device_guid_required",
    /// Decision D2.
    StatusInvalid = "status_invalid",
    /// Decision D4.
    TemperatureInvalid = "temperature_invalid",
    /// Decision D4.
    ConnectionStateInvalid = "connection_state_invalid",
    /// Decision D4.
    RemainingInksInvalid = "remaining_inks_invalid",
    /// Decision D3.
    QueueLengthInvalid = "queue_length_invalid",
    /// More arrives than can be stored; the same request may succeed later.
    Overloaded = "overloaded",
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
    fn an_error_is_shown_with_all_its_causes() {
        let error = StoreError::unavailable(StoreError::other("the disk is full"));
        assert_eq!(error_chain(&error), "the store is unavailable: the store failed: the disk is full");
    }

    #[test]
    fn a_cause_is_shown_once() {
        let error = StoreError::other(std::io::Error::other(std::io::Error::other("refused")));
        assert_eq!(error_chain(&error), "the store failed: refused");
    }
}
