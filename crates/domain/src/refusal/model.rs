//! A refusal as it is kept.

use crate::caller::{Caller, OrganizationId};
use crate::error::Reason;
use crate::guid::ComputerGuid;
use crate::text::cut;
use crate::timestamp::Timestamp;
use std::time::Duration;

/// How long a refusal is kept.
pub const KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// Refusals that are kept of one organization, or of one address without one.
pub const KEPT_PER_OWNER: u64 = 200;

/// Refusals that are kept of all callers together whose organization can't be known: addresses are many.
pub const KEPT_OF_UNKNOWN: u64 = 5_000;

/// Characters of a user's name that are kept with a refusal.
const MAX_NAME: usize = 120;

/// Whether a refusal is recorded: all but the ordinary answer that a look-up finds nothing, and those that
/// are nothing of the client's.
#[must_use]
pub fn is_recorded(reason: Reason) -> bool {
    !matches!(reason, Reason::PmmNotFound | Reason::Overloaded)
}

/// To whom a refusal belongs: the newest of each owner are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The organization of an authenticated caller.
    Organization(OrganizationId),
    /// The address of a caller whose organization can't be known.
    Address(String),
}

/// With what a caller tried to authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialKind {
    None,
    MisKey,
    HardwareHash,
    Both,
}

impl CredentialKind {
    pub const ALL: [Self; 4] = [Self::None, Self::MisKey, Self::HardwareHash, Self::Both];

    #[must_use]
    pub fn of(mis_key: bool, hardware_hash: bool) -> Self {
        match (mis_key, hardware_hash) {
            (false, false) => Self::None,
            (true, false) => Self::MisKey,
            (false, true) => Self::HardwareHash,
            (true, true) => Self::Both,
        }
    }

    /// The word for it in records and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::MisKey => "mis_key",
            Self::HardwareHash => "hardware_hash",
            Self::Both => "both",
        }
    }
}

/// A refusal to be kept. It holds no credential, not even a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefusal {
    pub at: Timestamp,
    pub owner: Owner,
    /// The name of the operation in logs and metrics.
    pub operation: String,
    pub credential: CredentialKind,
    pub user: Option<String>,
    pub computer: Option<ComputerGuid>,
    /// The client's address, where it is known.
    pub address: Option<String>,
    pub status: u16,
    /// [`crate::error::Reason::code`], or a word of the same kind.
    pub reason: String,
    /// The particulars that the client was told (decision R11).
    pub detail: String,
    pub request_id: String,
}

impl NewRefusal {
    /// Says who was refused.
    #[must_use]
    pub fn of_caller(self, caller: &Caller) -> Self {
        Self {
            owner: Owner::Organization(caller.organization),
            credential: CredentialKind::of(caller.user.is_some(), caller.computer.is_some()),
            user: caller.user.as_deref().map(|name| cut(name, MAX_NAME)),
            computer: caller.computer.as_ref().map(|computer| computer.guid),
            ..self
        }
    }
}

/// A refusal as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Grows with each refusal that is kept.
    pub number: i64,
    /// The name of the caller's organization, where it is known.
    pub organization: Option<String>,
    pub refusal: NewRefusal,
}
