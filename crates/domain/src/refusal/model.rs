//! A refusal as it is kept.

use crate::access::{ClaimedComputer, SentCredentials};
use crate::caller::{Caller, OrganizationId};
use crate::error::Reason;
use crate::guid::ComputerGuid;
use crate::text::{Folded, cut};
use crate::timestamp::Timestamp;
use std::fmt;
use std::time::Duration;

/// How long a refusal is kept.
pub const KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// Refusals that are kept of one organization, or of one address without one.
pub const KEPT_PER_OWNER: u64 = 200;

/// Refusals that are kept of all callers together whose organization can't be known: addresses are many.
pub const KEPT_OF_UNKNOWN: u64 = 5_000;

/// Characters of a user's name, and of a header, that are kept with a refusal.
const MAX_TEXT: usize = 120;

/// Whether a refusal is recorded. A lookup that finds nothing is an ordinary response and is not; nor is a refusal for
/// overload, which isn't the client's fault.
#[must_use]
pub fn is_recorded(reason: Reason) -> bool {
    !matches!(reason, Reason::PmmNotFound | Reason::PreconditionFailed | Reason::Overloaded)
}

/// The codes of refusals that no use case knows: those of the path and the method.
pub const PATH_UNKNOWN: &str = "path_unknown";
pub const METHOD_NOT_ALLOWED: &str = "method_not_allowed";

/// The codes that recorded refusals may have, in order.
#[must_use]
pub fn recorded_codes() -> Vec<&'static str> {
    let reasons = Reason::ALL.iter().filter(|reason| is_recorded(**reason)).map(|reason| reason.code());
    let mut codes: Vec<_> = reasons.chain([PATH_UNKNOWN, METHOD_NOT_ALLOWED]).collect();
    codes.sort_unstable();
    codes
}

/// The owner of a refusal. Of each owner the newest refusals are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The organization of an authenticated caller.
    Organization(OrganizationId),
    /// The address of a caller whose organization can't be known.
    Address(String),
}

/// The credentials with which a caller tried to authenticate.
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
    /// The computer that called, or that was named by its `HardwareHash`.
    pub computer: Option<ComputerGuid>,
    /// The organization of the computer that an unauthenticated request named.
    pub named: Option<OrganizationId>,
    /// The `SerialNumber` and the `ApplicationVersion` that were sent: printable, cut where they are long, and empty
    /// where there was none.
    pub serial_number: String,
    pub application_version: String,
    /// The client's address, where it is known.
    pub address: Option<String>,
    pub status: u16,
    /// [`crate::error::Reason::code`], or a word of the same kind.
    pub reason: String,
    /// The details that the client got (decision R11).
    pub detail: String,
    pub request_id: String,
}

impl NewRefusal {
    /// Adds the authenticated caller.
    #[must_use]
    pub fn of_caller(self, caller: &Caller) -> Self {
        Self {
            owner: Owner::Organization(caller.organization),
            credential: CredentialKind::of(caller.user.is_some(), caller.computer.is_some()),
            user: caller.user.as_deref().map(|name| cut(name, MAX_TEXT)),
            computer: caller.computer.as_ref().map(|computer| computer.guid),
            serial_number: printable(&caller.serial_number),
            application_version: printable(&caller.application_version),
            ..self
        }
    }

    /// Adds what an unauthenticated client sent. The owner stays its address: a client that knows a `HardwareHash` must
    /// not displace the refusals of the organization.
    #[must_use]
    pub fn of_unauthenticated(self, sent: &SentCredentials, computer: Option<ClaimedComputer>) -> Self {
        Self {
            computer: computer.map(|computer| computer.guid),
            named: computer.map(|computer| computer.organization),
            serial_number: printable(&sent.serial_number()),
            application_version: printable(sent.application_version().unwrap_or_default()),
            ..self
        }
    }
}

fn printable(header: &str) -> String {
    let shown = header.chars().take(MAX_TEXT);
    shown.map(|character| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }).collect()
}

/// A refusal as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Grows with each refusal that is kept.
    pub number: i64,
    /// The name of the caller's organization, or of the one whose computer was named.
    pub organization: Option<String>,
    pub refusal: NewRefusal,
}

impl Refused {
    /// Where a page that ends with this refusal goes on.
    #[must_use]
    pub fn cursor(&self) -> RefusalCursor {
        RefusalCursor { at: self.refusal.at, number: self.number }
    }
}

/// A place in the list, which is sorted by time, then number, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusalCursor {
    pub at: Timestamp,
    pub number: i64,
}

impl fmt::Display for RefusalCursor {
    /// Digits, a point, and perhaps a sign.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.at.as_micros(), self.number)
    }
}

impl RefusalCursor {
    /// Reads what `Display` writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (micros, number) = text.split_once('.')?;
        Some(Self { at: Timestamp::from_micros(micros.parse().ok()?), number: number.parse().ok()? })
    }
}

/// How many refusals have one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonCount {
    /// [`Reason::code`], or a word of the same kind.
    pub reason: String,
    pub count: u64,
    /// The time of the newest of them.
    pub last: Timestamp,
}

/// A registered computer that a refusal may concern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedComputer {
    pub guid: ComputerGuid,
    pub organization: OrganizationId,
    /// The name of its organization.
    pub organization_name: String,
    pub name: String,
    pub serial_number: Option<Folded>,
    pub is_retired: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{a_refusal, acme_records};

    fn from_address() -> NewRefusal {
        a_refusal(Owner::Address("192.0.2.1".to_owned()))
    }

    fn sent(serial_numbers: &[&str], versions: &[&str]) -> SentCredentials {
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        SentCredentials {
            serial_number: values(serial_numbers),
            application_version: values(versions),
            ..SentCredentials::default()
        }
    }

    #[test]
    fn an_unauthenticated_client_is_known_by_what_it_sent_and_belongs_to_its_address() {
        let computer = ClaimedComputer { organization: OrganizationId(7), guid: acme_records().computer };
        let refusal =
            from_address().of_unauthenticated(&sent(&[" SN-1 ", "SN-1"], &["", " 9.0", "8.0"]), Some(computer));
        assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("SN-1", "9.0"));
        assert_eq!((refusal.computer, refusal.named), (Some(computer.guid), Some(OrganizationId(7))));
        assert_eq!(refusal.owner, from_address().owner);

        let refusal = from_address().of_unauthenticated(&sent(&["SN-1", "SN-2"], &[]), None);
        assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("SN-1, SN-2", ""));
        assert_eq!((refusal.computer, refusal.named), (None, None));
    }

    #[test]
    fn what_was_sent_is_kept_printable_and_cut() {
        let long = "ü".repeat(MAX_TEXT + 1);
        let refusal = from_address().of_unauthenticated(&sent(&["a\u{9}b\u{85}\0"], &[&long]), None);
        assert_eq!(refusal.serial_number, "a\u{FFFD}b\u{FFFD}\u{FFFD}");
        assert_eq!(refusal.application_version, "ü".repeat(MAX_TEXT));
    }
}
