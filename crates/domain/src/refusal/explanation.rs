//! What each refusal means to a support engineer, and what to do about it.

use super::model::{METHOD_NOT_ALLOWED, PATH_UNKNOWN};
use crate::error::{Reason, RequiredHeader};

/// What a refusal means, and what to do about it, each as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    pub meaning: &'static str,
    pub advice: &'static str,
}

/// The explanation of a code of [`super::recorded_codes`]; one that sends to the details for any other word, which another
/// version may have recorded.
#[must_use]
pub fn explanation(code: &str) -> Explanation {
    let (meaning, advice) = match code {
        PATH_UNKNOWN => (
            "The client asked for a path that does not exist.",
            "Check the base address in the client's settings: it ends before /api/v2.",
        ),
        METHOD_NOT_ALLOWED => (
            "The client used a method that the path does not have.",
            "Update the client program; its requests do not follow the interface.",
        ),
        _ => match Reason::ALL.iter().find(|reason| reason.code() == code) {
            Some(reason) => of_reason(*reason),
            None => ("The request was refused.", "The details say why."),
        },
    };
    Explanation { meaning, advice }
}

fn of_reason(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::HeadersRequired
        | Reason::MisKeyInvalid
        | Reason::HardwareHashInvalid
        | Reason::CrashHardwareHashInvalid
        | Reason::CrashHeaderRequired(_) => of_credentials(reason),
        Reason::NotProperlyFormatted
        | Reason::JsonExpected
        | Reason::JsonInvalid
        | Reason::BodyTooLarge
        | Reason::BodyTimedOut
        | Reason::Overloaded => of_request(reason),
        Reason::ComputerNotFound
        | Reason::DeviceNotFound
        | Reason::QueueNotFound
        | Reason::JobNotFound
        | Reason::LogFieldsRequired
        | Reason::DateTimeInvalid
        | Reason::LogTypeInvalid
        | Reason::CallStackRequired => of_logs(reason),
        Reason::DeviceGuidRequired
        | Reason::StatusInvalid
        | Reason::TemperatureInvalid
        | Reason::ConnectionStateInvalid
        | Reason::RemainingInksInvalid
        | Reason::QueueLengthInvalid => of_device_status(reason),
        Reason::ResourceFieldsRequired
        | Reason::ResourceGuidInvalid
        | Reason::MetaNameRequired
        | Reason::MetaProfileRequired
        | Reason::DomainInvalid
        | Reason::TimestampInvalid
        | Reason::FileMissing
        | Reason::FileNotSingle
        | Reason::ChecksumMismatch => of_upload(reason),
        Reason::ResourceNotFound
        | Reason::ResourceToDeleteNotFound
        | Reason::ResourceNoAccess
        | Reason::ResourceGuidMissing
        | Reason::PreconditionFailed
        | Reason::ResourceInUse
        | Reason::ResourceTypesRequired
        | Reason::PmmValuesRequired
        | Reason::PmmNotFound => of_resource(reason),
    }
}

const UPDATE_CLIENT: &str =
    "Update the client program; its requests do not follow the interface. The details name the value.";

fn of_credentials(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::HeadersRequired => (
            "The request lacks a credential: MisKey or HardwareHash, SerialNumber and ApplicationVersion are required.",
            "Enter the MisKey in the client, or register the computer. The details name the missing header.",
        ),
        Reason::MisKeyInvalid => (
            "The MisKey is unknown or was revoked.",
            "Issue a new key by \u{201c}platen key issue\u{201d} and enter it in the client.",
        ),
        Reason::HardwareHashInvalid | Reason::CrashHardwareHashInvalid => (
            "No registered computer has this HardwareHash and SerialNumber; after a new main board the hash is another one.",
            "Register the new HardwareHash of the computer, or correct its SerialNumber.",
        ),
        Reason::CrashHeaderRequired(RequiredHeader::HardwareHash) => {
            ("A crash report came without HardwareHash.", UPDATE_CLIENT)
        }
        Reason::CrashHeaderRequired(RequiredHeader::SerialNumber) => {
            ("A crash report came without SerialNumber.", UPDATE_CLIENT)
        }
        _ => ("A crash report came without ApplicationVersion.", UPDATE_CLIENT),
    }
}

fn of_request(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::NotProperlyFormatted => {
            ("The body is not a multipart form as the interface describes it.", UPDATE_CLIENT)
        }
        Reason::JsonExpected => ("The body is not declared as application/json.", UPDATE_CLIENT),
        Reason::JsonInvalid => ("The body is not valid JSON.", UPDATE_CLIENT),
        Reason::BodyTooLarge => (
            "The request is larger than a limit of this server.",
            "Raise the limit that the details name (limits in the configuration), or send less.",
        ),
        Reason::BodyTimedOut => (
            "The client stopped sending before its request was whole.",
            "Check the network of the client, and proxies on its way.",
        ),
        _ => ("More requests arrived than could be done.", "Nothing to correct: clients send such requests again."),
    }
}

fn of_logs(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::ComputerNotFound => (
            "The computer that the log entry names is not registered in the caller's organization.",
            "Register the computer, or correct the ComputerGUID in the client.",
        ),
        Reason::DeviceNotFound => (
            "The device that the request names is not registered in the caller's organization.",
            "Register the device, or correct the DeviceGUID in the client.",
        ),
        Reason::QueueNotFound => (
            "The queue that the log entry names is not registered in the caller's organization.",
            "Register the queue, or correct the QueueGUID in the client.",
        ),
        Reason::JobNotFound => (
            "The job that the log entry names is not registered in the caller's organization.",
            "Register the job, or correct the JobGUID in the client.",
        ),
        Reason::LogFieldsRequired => {
            ("A log entry lacks a required value, or a list of log entries has no filter.", UPDATE_CLIENT)
        }
        Reason::DateTimeInvalid => ("From or To of a list of log entries is no time.", UPDATE_CLIENT),
        Reason::LogTypeInvalid => ("LogType of a list is neither Log nor Configuration.", UPDATE_CLIENT),
        _ => ("A crash report came without a call stack.", UPDATE_CLIENT),
    }
}

fn of_device_status(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::DeviceGuidRequired => ("A device status names no device.", UPDATE_CLIENT),
        Reason::StatusInvalid => ("A device status has none of the known words.", UPDATE_CLIENT),
        Reason::TemperatureInvalid => ("The temperature of a device status is no number.", UPDATE_CLIENT),
        Reason::ConnectionStateInvalid => {
            ("The connection of a device status is not Online, Offline or Unstable.", UPDATE_CLIENT)
        }
        Reason::RemainingInksInvalid => ("An ink of a device status lacks a value.", UPDATE_CLIENT),
        _ => ("The queue of a device status is not given as one of Length, Area or Sheets.", UPDATE_CLIENT),
    }
}

fn of_upload(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::ResourceFieldsRequired => {
            ("An upload lacks ResourceGUID, ResourceChecksum or ResourceType.", UPDATE_CLIENT)
        }
        Reason::ResourceGuidInvalid => ("The ResourceGUID of an upload is no GUID.", UPDATE_CLIENT),
        Reason::MetaNameRequired => {
            ("The metadata of an upload lacks a name.", "Give the resource a name in the client.")
        }
        Reason::MetaProfileRequired => (
            "The metadata of a profile lacks MediaType or ProfileGroup.",
            "Set media type and profile group of the profile in the client.",
        ),
        Reason::DomainInvalid => ("The domain is neither Private nor Public.", UPDATE_CLIENT),
        Reason::TimestampInvalid => (
            "The server has this resource with the same or a newer Timestamp, or the Timestamp is no time.",
            "Usually nothing: the newer one stays. If the client's is the right one, check the clock of the computer and save \
             the resource again.",
        ),
        Reason::FileMissing => ("An upload came without a file.", UPDATE_CLIENT),
        Reason::FileNotSingle => ("An upload came with several files.", UPDATE_CLIENT),
        _ => (
            "The content of an upload is not the one whose checksum was sent.",
            "Send it again; if it happens again, check the network and what scans files on the computer.",
        ),
    }
}

fn of_resource(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::ResourceNotFound => (
            "The resource is not stored in the caller's organization, and no publisher offers it.",
            "Upload the resource, or correct the reference in the client.",
        ),
        Reason::ResourceToDeleteNotFound => (
            "The resource to delete is not stored in the caller's organization.",
            "Usually nothing: it is gone already.",
        ),
        Reason::ResourceNoAccess => (
            "The resource belongs to another organization and is not published.",
            "Ask its owner to publish it, or use another one.",
        ),
        Reason::ResourceGuidMissing => ("A deletion names no resource.", UPDATE_CLIENT),
        Reason::PreconditionFailed => {
            ("The resource was changed since the client read it.", "Nothing to correct: the client reads it again.")
        }
        Reason::ResourceInUse => (
            "The resource to delete is used by a queue or a job.",
            "Let queue and job use another resource first, then delete it.",
        ),
        Reason::ResourceTypesRequired => ("A list of resources names no type.", UPDATE_CLIENT),
        Reason::PmmValuesRequired => ("A search for a profile lacks profile group, media or mode.", UPDATE_CLIENT),
        _ => ("No profile fits profile group, media and mode.", "Upload a profile with these values."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::recorded_codes;
    use std::collections::HashSet;

    #[test]
    fn every_recorded_reason_has_an_explanation_of_its_own() {
        let other = explanation("a word of another version");
        let mut meanings = HashSet::new();
        for code in recorded_codes() {
            let Explanation { meaning, advice } = explanation(code);
            assert!(meaning != other.meaning && meaning.ends_with('.') && advice.ends_with('.'), "{code}");
            let is_shared = ["crash_hardware_hash_invalid"].contains(&code);
            assert!(is_shared || meanings.insert(meaning) || code == "hardware_hash_invalid", "{code}: {meaning}");
        }
    }
}
