//! A group of crash reports: identity, state and counts.

use super::{GroupVersion, StateChange, is_later};
use crate::caller::OrganizationId;
use crate::timestamp::Timestamp;
use sha2::{Digest, Sha256};
use std::fmt;
use uuid::Uuid;

/// Identifies a group. The id is a hash of organization, application and signature, so two processes that analyze the
/// first reports of a group at the same time use the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrashGroupId(Uuid);

impl CrashGroupId {
    /// Computes the id of a group.
    #[must_use]
    pub fn of(organization: OrganizationId, application_name: Option<&str>, signature: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(organization.0.to_be_bytes());
        digest.update([u8::from(application_name.is_some())]);
        digest.update(application_name.unwrap_or_default());
        // No text holds U+0000 (decision R9).
        digest.update([0]);
        digest.update(signature);
        let digest: [u8; 32] = digest.finalize().into();
        let head = digest.first_chunk::<16>().copied().unwrap_or_default();
        Self(uuid::Builder::from_custom_bytes(head).into_uuid())
    }

    /// The id as a number of 128 bits.
    #[must_use]
    pub fn as_uuid(self) -> Uuid {
        self.0
    }
}

impl From<Uuid> for CrashGroupId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

/// Lower case, hyphenated.
impl fmt::Display for CrashGroupId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0.as_hyphenated())
    }
}

/// The state of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupState {
    New,
    Acknowledged,
    Resolved,
    /// A report arrived after the group was resolved ([`CrashGroup::regresses`]).
    Regressed,
}

impl GroupState {
    pub const ALL: [Self; 4] = [Self::New, Self::Acknowledged, Self::Resolved, Self::Regressed];

    /// The text form, as in queries and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
            Self::Regressed => "regressed",
        }
    }

    /// Parses the text form of [`GroupState::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// A group of crash reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashGroup {
    pub id: CrashGroupId,
    pub organization: OrganizationId,
    /// The header ApplicationName of its reports (decision C3).
    pub application_name: Option<String>,
    pub signature: String,
    /// The version of the rules that made the signature of the first report.
    pub algorithm: u32,
    pub state: GroupState,
    /// The version in which the group is resolved; `None` if it isn't resolved, or without a version.
    pub resolved_in: Option<String>,
    /// When the group was resolved; `None` once it is new or acknowledged again.
    pub resolved_at: Option<Timestamp>,
    /// Times of receipt of the first and the last report. They stay when retention removes those reports.
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
    /// The number of stored reports.
    pub reports: u64,
}

impl CrashGroup {
    /// Whether a report makes this group regressed: the group is resolved, and the report's version is later than
    /// `resolved_in`. If the versions can't be compared, the time of receipt decides (decision I5).
    #[must_use]
    pub fn regresses(&self, version: &str, received: Timestamp) -> bool {
        let later_version = self.resolved_in.as_deref().and_then(|resolved_in| is_later(version, resolved_in));
        let later_report = self.resolved_at.is_none_or(|resolved_at| received > resolved_at);
        self.state == GroupState::Resolved && later_version.unwrap_or(later_report)
    }

    /// The version of the state. Two operators who read the same version have seen the same state.
    #[must_use]
    pub fn version(&self) -> GroupVersion {
        GroupVersion::of(self)
    }

    /// Applies a change by an operator at `now`.
    pub fn change(&mut self, change: StateChange, now: Timestamp) {
        (self.state, self.resolved_in, self.resolved_at) = match change {
            StateChange::Reopen => (GroupState::New, None, None),
            StateChange::Acknowledge => (GroupState::Acknowledged, None, None),
            StateChange::Resolve { in_version } => (GroupState::Resolved, in_version, Some(now)),
        };
    }
}

/// The property by which the reports of a group are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TallyKind {
    Version,
    /// The GUID of the computer.
    Computer,
    OperatingSystem,
}

impl TallyKind {
    pub const ALL: [Self; 3] = [Self::Version, Self::Computer, Self::OperatingSystem];

    /// The text form, as in queries and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Computer => "computer",
            Self::OperatingSystem => "os",
        }
    }

    /// Parses the text form of [`TallyKind::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// How many reports of a group have one version, computer or operating system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    pub kind: TallyKind,
    pub value: String,
    pub reports: u64,
}

/// A group with its counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashGroupDetails {
    pub group: CrashGroup,
    /// Number of different versions in its reports.
    pub versions: u64,
    /// Number of different computers; reports without a computer don't count.
    pub computers: u64,
    /// Number of different operating systems.
    pub operating_systems: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn resolved(in_version: Option<&str>) -> CrashGroup {
        CrashGroup {
            id: CrashGroupId::of(OrganizationId(1), None, "a"),
            organization: OrganizationId(1),
            application_name: None,
            signature: "a".to_owned(),
            algorithm: 1,
            state: GroupState::Resolved,
            resolved_in: in_version.map(str::to_owned),
            resolved_at: Some(at(10)),
            first_seen: at(0),
            last_seen: at(0),
            reports: 1,
        }
    }

    /// Decision I5.
    #[test]
    fn a_later_version_or_else_a_later_report_makes_a_resolved_group_regressed() {
        for (in_version, version, received, expected) in [
            (Some("9.3"), "9.4", at(5), true),
            (Some("9.3"), "9.3", at(20), false),
            (Some("9.3"), "9.2.8", at(20), false),
            (Some("9.3"), "nightly", at(20), true),
            (Some("9.3"), "nightly", at(10), false),
            (None, "9.2", at(11), true),
            (None, "9.4", at(9), false),
        ] {
            assert_eq!(resolved(in_version).regresses(version, received), expected, "{in_version:?} {version}");
        }
        let new = CrashGroup { state: GroupState::New, ..resolved(None) };
        assert!(!new.regresses("9.4", at(20)));
    }

    #[test]
    fn each_organization_application_and_signature_has_a_group_of_its_own() {
        let id = |organization, name, signature| CrashGroupId::of(OrganizationId(organization), name, signature);
        let ids = [id(1, None, "a"), id(2, None, "a"), id(1, Some(""), "a"), id(1, Some("Rip"), "a"), id(1, None, "b")];
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len());
        assert_eq!(id(1, Some("Rip"), "a"), id(1, Some("Rip"), "a"));
    }
}
