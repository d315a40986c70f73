//! What operators see of resources.

use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::guid::ResourceGuid;
use crate::operator::OperatorError;
use crate::resource::{Domain, ResourceType, StoredResource};
use crate::text::{Folded, is_blank, storable};
use crate::timestamp::Timestamp;
use std::fmt;

/// The filters of a list as they were sent. A blank value means no filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogQuery {
    pub organization: Option<String>,
    pub resource_type: Option<String>,
    pub domain: Option<String>,
    pub q: Option<String>,
}

/// Which resources to list: all that fit every condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogFilter {
    /// `None`: of all organizations.
    pub organization: Option<OrganizationId>,
    pub resource_type: Option<Folded>,
    pub domain: Option<Domain>,
    pub search: Option<CatalogSearch>,
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogSearch {
    Guid(ResourceGuid),
    /// A text within the first 200 characters of the name, without case (decision R14).
    Name(Folded),
}

impl CatalogQuery {
    /// The filter of these values; `organization` is the one that the operator may see.
    pub(super) fn filter(&self, organization: Option<OrganizationId>) -> Result<CatalogFilter, OperatorError> {
        let given = |text: &Option<String>| text.as_deref().filter(|text| !is_blank(text)).map(storable);
        let unknown = || OperatorError::invalid("domain", "must be Private or Public");
        let domain = given(&self.domain).map(|text| Domain::parse(text.trim()).ok_or_else(unknown)).transpose()?;
        let search = given(&self.q).map(|text| {
            let name = || CatalogSearch::Name(Folded::of(text.trim()));
            ResourceGuid::parse(&text).map_or_else(name, CatalogSearch::Guid)
        });
        let resource_type = given(&self.resource_type).map(|text| Folded::of(text.trim()));
        Ok(CatalogFilter { organization, resource_type, domain, search })
    }
}

/// A resource in the list of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    pub organization: OrganizationId,
    pub guid: ResourceGuid,
    pub resource_type: ResourceType,
    pub name: String,
    /// What the list is sorted by first ([`crate::resource::Meta::sort_key`]).
    pub sort_key: String,
    pub domain: Domain,
    /// Bytes of the content.
    pub size: u64,
    pub checksum: Sha1Checksum,
    pub modified: Timestamp,
}

impl CatalogEntry {
    /// Where a list goes on after this one.
    #[must_use]
    pub fn cursor(&self) -> CatalogCursor {
        CatalogCursor { sort_key: self.sort_key.clone(), organization: self.organization, guid: self.guid }
    }
}

/// Where a list goes on. Lists are sorted by the folded name, then the number of the organization, then GUID.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogCursor {
    pub sort_key: String,
    pub organization: OrganizationId,
    pub guid: ResourceGuid,
}

/// `ORGANIZATION.GUID.NAME`.
impl fmt::Display for CatalogCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.organization.0, self.guid, self.sort_key)
    }
}

impl CatalogCursor {
    /// Reads what `Display` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (organization, rest) = text.split_once('.')?;
        let (guid, sort_key) = rest.split_once('.')?;
        let organization = OrganizationId(organization.parse().ok()?);
        Some(Self { sort_key: storable(sort_key), organization, guid: ResourceGuid::parse(guid)? })
    }
}

/// A resource in the list of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedResource {
    /// The name of the organization.
    pub organization: String,
    pub entry: CatalogEntry,
}

/// A resource that an operator may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundResource {
    /// The name of the organization.
    pub organization: String,
    pub resource: StoredResource,
}

/// What kind of record uses a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UseKind {
    Queue,
    Job,
}

impl UseKind {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Job => "job",
        }
    }
}

/// A record that uses a resource (decision O3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceUse {
    pub kind: UseKind,
    /// The GUID of the queue or job.
    pub guid: uuid::Uuid,
    /// The GUID if it was registered without a name.
    pub name: String,
}

/// A content that a browser may show as a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    Png,
    Jpeg,
}

impl ImageKind {
    /// The kind of a content by its first bytes, whatever its name or type says.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            _ => None,
        }
    }

    /// The content type.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::resource_guid;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for sort_key in ["banner", "", "a.b.c", "über 🖨.."] {
            let cursor = CatalogCursor {
                sort_key: sort_key.to_owned(),
                organization: OrganizationId(7),
                guid: resource_guid(3),
            };
            assert_eq!(CatalogCursor::parse(&cursor.to_string()), Some(cursor));
        }
        for text in ["", "7", "7.x.y", "x.00000000-0000-0000-0000-000000000003.a"] {
            assert_eq!(CatalogCursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn blank_values_are_no_filter_and_a_guid_is_searched_for_as_one() {
        let blank = Some("  ".to_owned());
        let query = CatalogQuery { organization: None, resource_type: blank.clone(), domain: blank.clone(), q: blank };
        assert_eq!(query.filter(None).unwrap(), CatalogFilter::default());
        let query = CatalogQuery {
            resource_type: Some(" NormalProfile ".to_owned()),
            domain: Some("public".to_owned()),
            q: Some(format!("{{{}}}", resource_guid(3))),
            ..CatalogQuery::default()
        };
        // Decision R9: PostgreSQL refuses U+0000.
        let zero = CatalogQuery { q: Some("a\0b".to_owned()), ..CatalogQuery::default() };
        let replaced = Some(CatalogSearch::Name(Folded::of("a\u{fffd}b")));
        assert_eq!(zero.filter(None).unwrap().search, replaced);
        let filter = query.filter(Some(OrganizationId(1))).unwrap();
        assert_eq!(filter.resource_type, Some(Folded::of("normalprofile")));
        assert_eq!(filter.domain, Some(Domain::Public));
        assert_eq!(filter.search, Some(CatalogSearch::Guid(resource_guid(3))));
        let secret = CatalogQuery { domain: Some("Secret".to_owned()), ..CatalogQuery::default() };
        assert!(matches!(secret.filter(None), Err(OperatorError::Invalid { field: "domain", .. })));
    }

    /// Decision P7.
    #[test]
    fn only_png_and_jpeg_are_pictures() {
        assert_eq!(ImageKind::of(b"\x89PNG\r\n\x1a\n..."), Some(ImageKind::Png));
        assert_eq!(ImageKind::of(b"\xff\xd8\xff\xe0"), Some(ImageKind::Jpeg));
        for other in [&b"<svg xmlns="[..], b"GIF89a", b"\x89PNG", b"\xff\xd8", b"<html>", b"", b"%PDF-1.7"] {
            assert_eq!(ImageKind::of(other), None, "{other:?}");
        }
    }
}
