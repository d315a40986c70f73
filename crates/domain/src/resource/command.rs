//! What the JSON bodies of the resource operations ask for.

#[cfg(test)]
mod tests;

use super::{Domain, ListFilter, Meta, PmmKey, ResourceType};
use crate::checksum::Sha1Checksum;
use crate::detail::{quoted, quoted_json};
use crate::error::{Failure, Outcome, Reason};
use crate::guid::ResourceGuid;
use crate::json::Json;
use crate::text::{Folded, is_blank, storable};
use std::collections::BTreeSet;

/// The part JsonString of an add or update (interface 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Description {
    pub(super) guid: ResourceGuid,
    pub(super) checksum: Sha1Checksum,
    pub(super) resource_type: ResourceType,
    pub(super) domain: Option<Domain>,
    pub(super) meta: Meta,
}

impl Description {
    /// Checks the required values first, then their form, in the order of the decisions.
    pub(super) fn read(body: &Json) -> Outcome<Self> {
        let body = body.unwrapped();
        let required = |name: &str| {
            let text = body.text_member(name).filter(|text| !is_blank(text));
            text.ok_or_else(|| Reason::ResourceFieldsRequired.because(format!("{name} is missing or blank")))
        };
        let guid = required("ResourceGUID")?;
        let checksum = required("ResourceChecksum")?;
        let resource_type = read_type(body)?;
        let guid = ResourceGuid::parse(guid)
            .ok_or_else(|| Reason::ResourceGuidInvalid.because(format!("ResourceGUID is {}", quoted(guid))))?;
        let meta = Meta::read(body.member("Meta"), &resource_type)?;
        let domain = read_domain(body)?;
        let checksum = Sha1Checksum::parse(checksum).ok_or_else(|| {
            let detail = format!("ResourceChecksum is {}, not 40 hexadecimal digits", quoted(checksum));
            Reason::ChecksumMismatch.because(detail)
        })?;
        Ok(Self { guid, checksum, resource_type, domain, meta })
    }
}

/// Decision T7.
fn read_type(body: &Json) -> Outcome<ResourceType> {
    let named = match body.member("ResourceType") {
        None => return Ok(ResourceType::generic()),
        Some(Json::Text(name)) => ResourceType::new(name),
        Some(_) => None,
    };
    named.ok_or_else(|| Reason::ResourceFieldsRequired.because("ResourceType is blank or not a text"))
}

/// Decision T10; a number is no word of the interface (decision R5).
fn read_domain(body: &Json) -> Outcome<Option<Domain>> {
    match body.member("Domain") {
        None => Ok(None),
        Some(Json::Text(text)) if Domain::parse(text).is_some() => Ok(Domain::parse(text)),
        Some(other) => Err(Reason::DomainInvalid.because(format!("Domain is {}", quoted_json(other)))),
    }
}

impl ListFilter {
    /// Reads the body of a resource list (decision T19).
    pub(super) fn read(body: &Json) -> Outcome<Self> {
        let body = body.unwrapped();
        let refused = |detail: &str| Reason::ResourceTypesRequired.because(detail);
        let types = match body.member("ResourceTypes") {
            Some(Json::Array(types)) => types,
            Some(_) => return Err(refused("ResourceTypes is not an array")),
            None => return Err(refused("ResourceTypes is missing")),
        };
        let mut named = Vec::new();
        for entry in types.iter().filter(|entry| **entry != Json::Null) {
            let Json::Text(name) = entry else {
                return Err(refused(&format!("ResourceTypes holds {}, not a text", quoted_json(entry))));
            };
            named.push(name);
        }
        if named.is_empty() {
            return Err(refused("ResourceTypes is empty"));
        }
        let all = named.iter().any(|name| *name == "*");
        // Stored types hold no U+0000, and no type needs to be asked for twice.
        let folded: BTreeSet<Folded> = named.into_iter().map(|name| Folded::of(&storable(name))).collect();
        let types = (!all).then(|| folded.into_iter().collect());
        Ok(Self { types, domain: read_domain(body)?.unwrap_or(Domain::Private) })
    }
}

impl PmmKey {
    /// Reads the body of a PMM lookup (decision T20).
    pub(super) fn read(body: &Json) -> Outcome<Self> {
        let body = body.unwrapped();
        let required = |name: &str| -> Result<Folded, Failure> {
            let text = body.text_member(name).filter(|text| !is_blank(text));
            let text = text.ok_or_else(|| Reason::PmmValuesRequired.because(format!("{name} is missing or blank")))?;
            Ok(Folded::of(&storable(text)))
        };
        Ok(Self { profile_group: required("ProfileGroup")?, media: required("Media")?, mode: required("Mode")? })
    }
}
