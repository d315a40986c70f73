//! Types for last requests and for fetches of resources.

use crate::caller::{Caller, OrganizationId};
use crate::checksum::Sha1Checksum;
use crate::guid::{ComputerGuid, ResourceGuid};
use crate::text::cut;
use crate::timestamp::Timestamp;

/// The number of SerialNumbers of one user with which fetches of one resource are stored. A client may send any
/// SerialNumber.
pub const SERIAL_NUMBERS_PER_USER: u32 = 100;

/// Characters of a SerialNumber that are kept.
const MAX_SERIAL_NUMBER: usize = 120;

/// The sender of a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// The computer whose HardwareHash was sent.
    Computer(OrganizationId, ComputerGuid),
    /// The user whose MisKey was sent, by name.
    User(OrganizationId, String),
}

impl Sender {
    /// Returns the computer and the user of a caller, as far as it has them.
    pub fn of(caller: &Caller) -> impl Iterator<Item = Self> {
        let organization = caller.organization;
        let computer = caller.computer.as_ref().map(|computer| Self::Computer(organization, computer.guid));
        let user = caller.user.clone().map(|name| Self::User(organization, name));
        computer.into_iter().chain(user)
    }
}

/// The last admitted request of a computer or a user (decision I8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRequest {
    pub at: Timestamp,
    /// The client's IP address, if it is known.
    pub address: Option<String>,
    /// The header SerialNumber as sent, at most 120 characters.
    pub serial_number: String,
    /// The header ApplicationVersion, at most 64 characters (decision A7).
    pub application_version: String,
}

impl LastRequest {
    #[must_use]
    pub fn of(caller: &Caller, address: Option<String>, at: Timestamp) -> Self {
        Self {
            at,
            address,
            serial_number: cut(&caller.serial_number, MAX_SERIAL_NUMBER),
            application_version: caller.application_version.clone(),
        }
    }
}

/// The holder of a content: a computer, or a user at the computer that the SerialNumber names (decision I9).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    Computer(OrganizationId, ComputerGuid),
    User {
        organization: OrganizationId,
        name: String,
        /// As sent, at most 120 characters; compared without case (decision A7).
        serial_number: String,
    },
}

impl Holder {
    /// The organization of the computer or user.
    #[must_use]
    pub fn organization(&self) -> OrganizationId {
        match self {
            Self::Computer(organization, _) | Self::User { organization, .. } => *organization,
        }
    }

    /// Returns the computer of a caller, else its user; `None` without either.
    #[must_use]
    pub fn of(caller: &Caller) -> Option<Self> {
        let organization = caller.organization;
        let user = || {
            let serial_number = cut(&caller.serial_number, MAX_SERIAL_NUMBER);
            Some(Self::User { organization, name: caller.user.clone()?, serial_number })
        };
        caller.computer.as_ref().map(|computer| Self::Computer(organization, computer.guid)).or_else(user)
    }
}

/// A resource of an organization, which may be a publisher (decision T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceKey {
    pub organization: OrganizationId,
    pub guid: ResourceGuid,
}

/// The last content of a resource that a holder fetched completely, or for which it got the response 304.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    pub checksum: Sha1Checksum,
    pub at: Timestamp,
}

/// Compares the content of a holder with the stored content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Currency {
    Current,
    Outdated,
    NeverFetched,
}

impl Currency {
    pub const ALL: [Self; 3] = [Self::Current, Self::Outdated, Self::NeverFetched];

    #[must_use]
    pub fn of(fetch: Option<Fetch>, stored: Sha1Checksum) -> Self {
        match fetch {
            Some(fetch) if fetch.checksum == stored => Self::Current,
            Some(_) => Self::Outdated,
            None => Self::NeverFetched,
        }
    }

    /// The text form, as in queries and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Outdated => "outdated",
            Self::NeverFetched => "never_fetched",
        }
    }

    /// Parses the text form of [`Currency::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|currency| currency.as_str() == text)
    }
}

/// A registered computer and what it fetched of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputerFetch {
    pub guid: ComputerGuid,
    /// The GUID if it was registered without a name.
    pub name: String,
    /// `None` if the computer never fetched the resource completely.
    pub fetch: Option<Fetch>,
}

/// A user, and the last fetch of one resource by this user at one computer that isn't registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFetch {
    pub name: String,
    pub serial_number: String,
    pub fetch: Fetch,
}

/// A resource of which a computer has an outdated content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutdatedResource {
    pub resource: ResourceKey,
    /// The present name of the resource.
    pub name: String,
    pub fetch: Fetch,
    /// The checksum of the stored content.
    pub checksum: Sha1Checksum,
    /// The Timestamp of the resource.
    pub modified: Timestamp,
}

/// A registered user and the last request with its MisKey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserActivity {
    pub name: String,
    pub last_request: Option<LastRequest>,
}
