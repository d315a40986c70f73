//! What the JSON bodies of the resource operations ask for.

#[cfg(test)]
mod tests;

use super::{Domain, ListFilter, Meta, PmmKey, ResourceType};
use crate::checksum::Sha1Checksum;
use crate::detail::{quoted, quoted_json};
use crate::error::{Outcome, Reason};
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
    /// Resources of the types that are named, `*` for all, and of the domain, by default Private (decision T19).
    ///
    /// # Errors
    /// [`Reason::ResourceTypesRequired`] and [`Reason::DomainInvalid`].
    pub fn new(types: &[String], domain: Option<&str>) -> Outcome<Self> {
        if types.is_empty() {
            return Err(Reason::ResourceTypesRequired.because("ResourceTypes is empty"));
        }
        let all = types.iter().any(|name| name == "*");
        // Stored types hold no U+0000, and no type needs to be asked for twice.
        let folded: BTreeSet<Folded> = types.iter().map(|name| Folded::of(&storable(name))).collect();
        let types = (!all).then(|| folded.into_iter().collect());
        Ok(Self { types, domain: parse_domain(domain)?.unwrap_or(Domain::Private) })
    }
}

/// Decision T10.
fn parse_domain(text: Option<&str>) -> Outcome<Option<Domain>> {
    let invalid = |text: &str| Reason::DomainInvalid.because(format!("Domain is {}", quoted(text)));
    text.map(|text| Domain::parse(text).ok_or_else(|| invalid(text))).transpose()
}

impl PmmKey {
    /// The values of a PMM lookup (decision T20).
    ///
    /// # Errors
    /// [`Reason::PmmValuesRequired`] where one is missing or blank.
    pub fn new(profile_group: Option<String>, media: Option<String>, mode: Option<String>) -> Outcome<Self> {
        let required = |text: Option<String>, name: &str| -> Outcome<Folded> {
            let text = text.filter(|text| !is_blank(text));
            let text = text.ok_or_else(|| Reason::PmmValuesRequired.because(format!("{name} is missing or blank")))?;
            Ok(Folded::of(&storable(&text)))
        };
        Ok(Self {
            profile_group: required(profile_group, "ProfileGroup")?,
            media: required(media, "Media")?,
            mode: required(mode, "Mode")?,
        })
    }
}
