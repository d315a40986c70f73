//! Requests that were refused, of clients that are set up wrongly.

use super::computers::Station;
use domain::error::Reason;
use domain::refusal::{CredentialKind, NewRefusal, Owner};
use domain::timestamp::Timestamp;
use fastrand::Rng;

/// Operation, reason, status and the detail that the client got.
const REFUSED: [(&str, Reason, u16, &str); 6] = [
    (
        "add_resource",
        Reason::TimestampInvalid,
        400,
        "Timestamp 2026-03-01T08:00:00.000000Z is not newer than the stored 2026-04-22T11:31:07.000000Z",
    ),
    (
        "add_resource",
        Reason::ChecksumMismatch,
        400,
        "ResourceChecksum sent is 4E1243BD22C66E76C2BA9EDDC1F91394E57F9F83, that of the 512000 bytes received is \
         DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
    ),
    ("add_log", Reason::DeviceNotFound, 404, "DeviceGUID \"5f0c6b2e-9d1b-4f0e-8a41-6a2f1c9e0b77\" is not registered"),
    ("get_resource_file", Reason::ResourceNotFound, 404, "no resource 0f8fad5b-d9cb-469f-a165-70867728950e"),
    ("delete_resource", Reason::ResourceInUse, 409, "in use by queue \"Flatbed UV 2512 – production\""),
    ("add_resource", Reason::MetaNameRequired, 400, "Meta.Name is missing or blank"),
];

/// A refusal of a computer.
pub(super) fn of_station(rng: &mut Rng, at: Timestamp, station: &Station, version: &str) -> NewRefusal {
    let (operation, reason, status, detail) = REFUSED[rng.usize(..REFUSED.len())];
    let caller = domain::caller::Caller { application_version: version.to_owned(), ..station.caller.clone() };
    let owner = Owner::Organization(caller.organization);
    blank(rng, at, owner, &station.address, (operation, reason, status, detail)).of_caller(&caller)
}

/// A refusal of a program whose credentials aren't known.
pub(super) fn of_stranger(rng: &mut Rng, at: Timestamp) -> NewRefusal {
    let address = format!("203.0.113.{}", rng.u8(5..9));
    let (reason, detail, credential) = if rng.bool() {
        (Reason::MisKeyInvalid, "the MisKey is not known, or was revoked", CredentialKind::MisKey)
    } else {
        (Reason::HardwareHashInvalid, "the HardwareHash is not registered", CredentialKind::HardwareHash)
    };
    let refusal = blank(rng, at, Owner::Address(address.clone()), &address, ("list_resources", reason, 401, detail));
    let serial_number = format!("LS-10{:03}", rng.u16(100..130));
    NewRefusal { credential, serial_number, application_version: "9.1.0".to_owned(), ..refusal }
}

fn blank(
    rng: &mut Rng,
    at: Timestamp,
    owner: Owner,
    address: &str,
    (operation, reason, status, detail): (&str, Reason, u16, &str),
) -> NewRefusal {
    NewRefusal {
        at,
        owner,
        operation: operation.to_owned(),
        credential: CredentialKind::None,
        user: None,
        computer: None,
        named: None,
        serial_number: String::new(),
        application_version: String::new(),
        address: Some(address.to_owned()),
        status,
        reason: reason.code().to_owned(),
        detail: detail.to_owned(),
        request_id: super::clock::guid(rng).to_string(),
    }
}
