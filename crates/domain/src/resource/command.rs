//! The typed commands of resources, which can only be built from valid values.

#[cfg(test)]
mod tests;

use super::{Domain, ListFilter, Meta, MetaMember, PmmKey, ResourceType};
use crate::checksum::Sha1Checksum;
use crate::detail::quoted;
use crate::error::{Outcome, Reason};
use crate::guid::ResourceGuid;
use crate::text::{Folded, is_blank, storable};
use std::collections::BTreeSet;

/// The members of the part JsonString as they were sent (interface 4.1).
#[derive(Debug, Clone, Default)]
pub struct StoreResourceInput {
    pub guid: Option<String>,
    pub checksum: Option<String>,
    /// `None` means Generic. A value that isn't a text is passed as an empty one, which is refused (decision T7).
    pub resource_type: Option<String>,
    pub domain: Option<String>,
    /// `None` if it is missing or not an object.
    pub meta: Option<Vec<MetaMember>>,
}

/// What the part JsonString says of a resource that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreResource {
    pub(super) guid: ResourceGuid,
    pub(super) checksum: Sha1Checksum,
    pub(super) resource_type: ResourceType,
    pub(super) domain: Option<Domain>,
    pub(super) meta: Meta,
}

impl StoreResource {
    /// Checks the required values first, then their form, in the order of the decisions.
    ///
    /// # Errors
    /// [`Reason::ResourceFieldsRequired`], [`Reason::ResourceGuidInvalid`], those of [`Meta::new`],
    /// [`Reason::DomainInvalid`] and, for a malformed checksum, [`Reason::ChecksumMismatch`] (decision T6).
    pub fn new(input: StoreResourceInput) -> Outcome<Self> {
        let required = |text: Option<String>, name: &str| {
            let text = text.filter(|text| !is_blank(text));
            text.ok_or_else(|| Reason::ResourceFieldsRequired.because(format!("{name} is missing or blank")))
        };
        let guid = required(input.guid, "ResourceGUID")?;
        let checksum = required(input.checksum, "ResourceChecksum")?;
        let resource_type = match &input.resource_type {
            None => ResourceType::generic(),
            Some(name) => ResourceType::new(name)
                .ok_or_else(|| Reason::ResourceFieldsRequired.because("ResourceType is blank or not a text"))?,
        };
        let guid = ResourceGuid::parse(&guid)
            .ok_or_else(|| Reason::ResourceGuidInvalid.because(format!("ResourceGUID is {}", quoted(&guid))))?;
        let meta = input.meta.ok_or_else(|| Reason::MetaNameRequired.because("Meta is missing or not an object"))?;
        let meta = Meta::new(meta, &resource_type)?;
        let domain = parse_domain(input.domain.as_deref())?;
        let checksum = Sha1Checksum::parse(&checksum).ok_or_else(|| {
            let detail = format!("ResourceChecksum is {}, not 40 hexadecimal digits", quoted(&checksum));
            Reason::ChecksumMismatch.because(detail)
        })?;
        Ok(Self { guid, checksum, resource_type, domain, meta })
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
