//! What a resource is.

use crate::blob::BlobKey;
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::guid::ResourceGuid;
use crate::text::{Folded, cut, is_blank, storable};
use crate::timestamp::Timestamp;
use std::fmt;

/// The type of a resource: any text that isn't blank, compared without case (interface 2.1,
/// decisions T7, R14).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceType(String);

impl ResourceType {
    /// A type by its name; `None` where it is blank.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        (!is_blank(name)).then(|| Self(storable(name)))
    }

    /// The type of a resource that names none (interface 2.1).
    #[must_use]
    pub fn generic() -> Self {
        Self("Generic".to_owned())
    }

    /// Whether this is the type that demands `MediaType` and `ProfileGroup` (interface 2.2).
    #[must_use]
    pub fn is_normal_profile(&self) -> bool {
        self.folded() == Folded::of("NormalProfile")
    }

    /// The type as it is compared.
    #[must_use]
    pub fn folded(&self) -> Folded {
        Folded::of(&self.0)
    }

    /// The type as it was sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who else may see a resource, in addition to its organization (interface 2.1, decision T15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    Private,
    Public,
}

impl Domain {
    /// Reads `Private` or `Public` without case (decision T10).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Private, Self::Public].into_iter().find(|domain| domain.as_str().eq_ignore_ascii_case(text))
    }

    /// The interface's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Private => "Private",
            Self::Public => "Public",
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Where the content of a resource lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    pub key: BlobKey,
    /// Bytes.
    pub size: u64,
}

/// A resource about to be stored. Its content is durable already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewResource {
    pub guid: ResourceGuid,
    pub resource_type: ResourceType,
    pub checksum: Sha1Checksum,
    pub modified: Timestamp,
    /// `None`: Private on add, unchanged on update (decision T10).
    pub domain: Option<Domain>,
    pub meta: Meta,
    pub content: StoredContent,
}

/// A resource as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResource {
    pub organization: OrganizationId,
    pub guid: ResourceGuid,
    pub resource_type: ResourceType,
    pub checksum: Sha1Checksum,
    pub modified: Timestamp,
    pub domain: Domain,
    pub meta: Meta,
    pub content: StoredContent,
}

/// ProfileGroup, Media and Mode, compared without case (decision T20).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PmmKey {
    pub profile_group: Folded,
    pub media: Folded,
    pub mode: Folded,
}

/// The metadata of a resource, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Meta.Name, never blank.
    pub name: String,
    /// What the PMM lookup compares; `None` if ProfileGroup, Media or Mode is absent.
    pub pmm: Option<PmmKey>,
    /// The JSON object.
    pub json: String,
}

impl Meta {
    /// What lists are sorted by before the GUID: the first 200 characters of the folded Name (decision T19).
    #[must_use]
    pub fn sort_key(&self) -> String {
        cut(Folded::of(&self.name).as_str(), 200)
    }
}

/// Which resources a list names (decision T19).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFilter {
    /// Types to list; `None` for all of them.
    pub types: Option<Vec<Folded>>,
    pub domain: Domain,
}

/// An item of a list (interface 2.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceListItem {
    pub guid: ResourceGuid,
    pub resource_type: ResourceType,
    pub checksum: Sha1Checksum,
    pub name: String,
}
