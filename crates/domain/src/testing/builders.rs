//! Domain values made in one call. Tests change single members by struct update:
//! `NewResource { modified: at(5), ..a_resource(1) }`.

use crate::blob::{BlobKey, BlobKind};
use crate::caller::{Caller, OrganizationId};
use crate::checksum::Sha1Checksum;
use crate::crash_report::{CrashPart, NewCrashReport, PartRole};
use crate::device_status::{DeviceStatus, QueueLength, Status};
use crate::error::Reason;
use crate::guid::{ComputerGuid, CrashReportId, DeviceGuid, ResourceGuid};
use crate::log_entry::{LogType, NewLogEntry};
use crate::refusal::{CredentialKind, NewRefusal, Owner};
use crate::resource::{
    Domain, Meta, MetaMember, MetaText, NewResource, PmmKey, ResourceType, StoredContent, StoredResource,
};
use crate::text::Folded;
use crate::timestamp::Timestamp;
use uuid::Uuid;

/// `seconds` after (or before) the moment from which tests count, 2026-01-01T00:00:00Z.
#[must_use]
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_767_225_600 + seconds) * 1_000_000)
}

/// A GUID by its number; GUIDs sort as their numbers do.
#[must_use]
pub fn numbered(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// The GUID of a resource by its number.
#[must_use]
pub fn resource_guid(number: u128) -> ResourceGuid {
    ResourceGuid::from(numbered(number))
}

/// The key of a resource's blob by its number.
#[must_use]
pub fn a_blob_key(number: u128) -> BlobKey {
    BlobKey::new(BlobKind::Resource, numbered(number))
}

/// Metadata of these text members; `Name` has to be among them.
///
/// # Panics
/// Where the members are no acceptable Meta.
#[must_use]
pub fn a_meta(members: &[(&str, &str)]) -> Meta {
    let member = |(name, text): &(&str, &str)| {
        let known = MetaText::ALL.into_iter().find(|known| known.as_str() == *name);
        let further = || MetaMember::Further((*name).to_owned(), serde_json::value::to_raw_value(text).expect("JSON"));
        known.map_or_else(further, |known| MetaMember::Text(known, (*text).to_owned()))
    };
    Meta::new(members.iter().map(member).collect(), &ResourceType::generic()).expect("acceptable metadata")
}

/// ProfileGroup, Media and Mode as they are compared.
#[must_use]
pub fn pmm_key(profile_group: &str, media: &str, mode: &str) -> PmmKey {
    PmmKey { profile_group: Folded::of(profile_group), media: Folded::of(media), mode: Folded::of(mode) }
}

/// A resource whose GUID, name and blob are of this number, modified at `at(0)`. Two uploads never
/// share a blob: a second one of the same resource takes `content` from another number.
///
/// # Panics
/// Never.
#[must_use]
pub fn a_resource(number: u128) -> NewResource {
    NewResource {
        guid: resource_guid(number),
        resource_type: ResourceType::new("Label").expect("a name that is not blank"),
        checksum: Sha1Checksum::of(&number.to_be_bytes()),
        modified: at(0),
        domain: None,
        meta: a_meta(&[("Name", &format!("Resource {number}"))]),
        content: StoredContent { key: a_blob_key(number), size: 16 },
    }
}

/// The resource as it is stored when the organization had none with its GUID.
#[must_use]
pub fn stored(organization: OrganizationId, resource: NewResource) -> StoredResource {
    StoredResource {
        organization,
        guid: resource.guid,
        resource_type: resource.resource_type,
        checksum: resource.checksum,
        modified: resource.modified,
        domain: resource.domain.unwrap_or(Domain::Private),
        meta: resource.meta,
        content: resource.content,
    }
}

/// An entry of type log, received at `at(0)`.
#[must_use]
pub fn a_log_entry(description: &str) -> NewLogEntry {
    NewLogEntry {
        received: at(0),
        log_type: LogType::Log,
        description: description.to_owned(),
        user: "Ann".to_owned(),
        source: "Latex 1".to_owned(),
        version: "1.2.3".to_owned(),
        computer: "RIP-01".to_owned(),
        serial_number: "SN-1000".to_owned(),
        computer_guid: ComputerGuid::from(numbered(0x0c01)),
        device_guid: None,
        queue_guid: None,
        job_guid: None,
        job_name: None,
        application_version: "9.0".to_owned(),
    }
}

/// A report of one call stack whose id and blob are of this number, received at `at(0)`.
#[must_use]
pub fn a_crash_report(number: u128) -> NewCrashReport {
    NewCrashReport {
        id: CrashReportId::from(numbered(number)),
        received: at(0),
        application_name: Some("Rip".to_owned()),
        os: Some("1".to_owned()),
        user: Some("Ann".to_owned()),
        computer: Some(ComputerGuid::from(numbered(0x0c01))),
        serial_number: "SN-1000".to_owned(),
        application_version: "9.0".to_owned(),
        parts: vec![CrashPart {
            role: PartRole::CallStack,
            name: Some("CallStack".to_owned()),
            file_name: None,
            content_type: Some("text/plain".to_owned()),
            key: BlobKey::new(BlobKind::CrashReport, numbered(number)),
            size: 16,
            checksum: Sha1Checksum::of(&number.to_be_bytes()),
        }],
        note: None,
    }
}

/// An idle device with nothing to print, received at `at(0)`.
#[must_use]
pub fn a_status(device: DeviceGuid) -> DeviceStatus {
    DeviceStatus {
        device,
        received: at(0),
        status: Status::Idle,
        message: None,
        temperature: None,
        connection_state: None,
        connection_message: None,
        remaining_inks: Vec::new(),
        queue_length: QueueLength::Length(0.0),
    }
}

/// A caller who sent a `MisKey` only.
#[must_use]
pub fn a_caller(organization: OrganizationId) -> Caller {
    Caller {
        organization,
        organization_name: format!("Organization {}", organization.0),
        user: Some("Ann".to_owned()),
        computer: None,
        serial_number: "SN-1000".to_owned(),
        application_version: "9.0".to_owned(),
    }
}

/// A refusal of this owner, of an upload with an older Timestamp.
#[must_use]
pub fn a_refusal(owner: Owner) -> NewRefusal {
    let address = match &owner {
        Owner::Organization(_) => None,
        Owner::Address(address) => Some(address.clone()),
    };
    NewRefusal {
        at: at(0),
        owner,
        operation: "add_resource".to_owned(),
        credential: CredentialKind::None,
        user: None,
        computer: None,
        named: None,
        serial_number: String::new(),
        application_version: String::new(),
        address,
        status: 400,
        reason: Reason::TimestampInvalid.code().to_owned(),
        detail: "the Timestamp is not newer".to_owned(),
        request_id: "a-request".to_owned(),
    }
}
