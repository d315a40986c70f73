//! What a group of crash reports is, and how it changes.

use super::{GroupVersion, StateChange, is_later};
use crate::caller::OrganizationId;
use crate::timestamp::Timestamp;
use sha2::{Digest, Sha256};
use std::fmt;
use uuid::Uuid;

/// Identifies a group. It follows from organization, application and signature, so two processes that meet the first
/// report of a group at once give it the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrashGroupId(Uuid);

impl CrashGroupId {
    /// The id of the group of these.
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

/// What people and reports have made of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupState {
    New,
    Acknowledged,
    Resolved,
    /// A report came after it was resolved.
    Regressed,
}

impl GroupState {
    pub const ALL: [Self; 4] = [Self::New, Self::Acknowledged, Self::Resolved, Self::Regressed];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
            Self::Regressed => "regressed",
        }
    }

    /// Reads [`GroupState::as_str`].
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
    /// The version in which it is resolved, if it is and one was given.
    pub resolved_in: Option<String>,
    /// When it was resolved last.
    pub resolved_at: Option<Timestamp>,
    /// Times of receipt of the first and the last report, also of those that are removed by now.
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
    /// Reports that are stored.
    pub reports: u64,
}

impl CrashGroup {
    /// Whether a report makes this group regressed: the group is resolved, and the report has a later version than the
    /// one in which it is resolved; where versions can't be compared, it was received later (decision I5).
    #[must_use]
    pub fn regresses(&self, version: &str, received: Timestamp) -> bool {
        let later_version = self.resolved_in.as_deref().and_then(|resolved_in| is_later(version, resolved_in));
        let later_report = self.resolved_at.is_none_or(|resolved_at| received > resolved_at);
        self.state == GroupState::Resolved && later_version.unwrap_or(later_report)
    }

    /// What people change of it, and what a report changes of that. Two people who read the same version have seen the same.
    #[must_use]
    pub fn version(&self) -> GroupVersion {
        GroupVersion::of(self)
    }

    /// Does what a person wants of it, at `now`.
    pub fn change(&mut self, change: StateChange, now: Timestamp) {
        (self.state, self.resolved_in, self.resolved_at) = match change {
            StateChange::Reopen => (GroupState::New, None, None),
            StateChange::Acknowledge => (GroupState::Acknowledged, None, None),
            StateChange::Resolve { in_version } => (GroupState::Resolved, in_version, Some(now)),
        };
    }
}

/// What is counted of the reports of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TallyKind {
    Version,
    /// A computer by its GUID.
    Computer,
    OperatingSystem,
}

impl TallyKind {
    pub const ALL: [Self; 3] = [Self::Version, Self::Computer, Self::OperatingSystem];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Computer => "computer",
            Self::OperatingSystem => "os",
        }
    }

    /// Reads [`TallyKind::as_str`].
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

/// A group with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashGroupDetails {
    pub group: CrashGroup,
    /// Different versions of its reports.
    pub versions: u64,
    /// Different computers; reports without one don't count.
    pub computers: u64,
    /// Different operating systems.
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
