//! Changes of a group by operators, and the version that prevents lost updates.

use super::{CrashGroup, GroupState};
use crate::operator::OperatorError;
use crate::text::is_blank;
use sha2::{Digest, Sha256};
use std::fmt;

/// Longest version in which a group is resolved, in characters: that of an ApplicationVersion (decision A7).
const MAX_VERSION: usize = 64;

/// A change of the state of a group by an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateChange {
    /// The group becomes new again.
    Reopen,
    Acknowledge,
    /// The group is resolved, in a version of the application if one is given.
    Resolve {
        in_version: Option<String>,
    },
}

impl StateChange {
    /// Parses the change to a state; a blank version counts as none.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`] for a state that operators can't set, for a version that is too long or has control
    /// characters, and for a version with another state than resolved.
    pub fn parse(state: &str, resolved_in: Option<&str>) -> Result<Self, OperatorError> {
        let in_version = resolved_in.map(str::trim).filter(|version| !is_blank(version)).map(str::to_owned);
        if in_version.as_ref().is_some_and(|version| version.chars().count() > MAX_VERSION) {
            return Err(OperatorError::invalid("resolved_in", format!("must have at most {MAX_VERSION} characters")));
        }
        if in_version.as_ref().is_some_and(|version| version.chars().any(char::is_control)) {
            return Err(OperatorError::invalid("resolved_in", "must not hold control characters"));
        }
        let change = match GroupState::parse(state) {
            Some(GroupState::New) => Self::Reopen,
            Some(GroupState::Acknowledged) => Self::Acknowledge,
            Some(GroupState::Resolved) => return Ok(Self::Resolve { in_version }),
            Some(GroupState::Regressed) | None => {
                return Err(OperatorError::invalid("state", "must be new, acknowledged or resolved"));
            }
        };
        match in_version {
            None => Ok(change),
            Some(_) => Err(OperatorError::invalid("resolved_in", "needs the state resolved")),
        }
    }
}

/// The version of a group for optimistic concurrency (`ETag` and `If-Match`). Each change of the state changes it; new
/// reports alone don't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupVersion(String);

impl GroupVersion {
    pub(super) fn of(group: &CrashGroup) -> Self {
        let mut digest = Sha256::new();
        digest.update(group.state.as_str());
        digest.update(group.resolved_at.map_or(i64::MIN, crate::timestamp::Timestamp::as_micros).to_be_bytes());
        digest.update([u8::from(group.resolved_in.is_some())]);
        digest.update(group.resolved_in.as_deref().unwrap_or_default());
        let digest: [u8; 32] = digest.finalize().into();
        Self(digest[..8].iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
    }

    /// Wraps the text that `Display` wrote. Any other text is a version that no group has.
    #[must_use]
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for GroupVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(read: Result<StateChange, OperatorError>) -> &'static str {
        match read {
            Err(OperatorError::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        }
    }

    /// Decision I5.
    #[test]
    fn operators_reopen_acknowledge_and_resolve() {
        let resolved = |version: Option<&str>| StateChange::Resolve { in_version: version.map(str::to_owned) };
        for (state, version, expected) in [
            ("new", None, StateChange::Reopen),
            ("acknowledged", Some("  "), StateChange::Acknowledge),
            ("resolved", Some(" 9.4 "), resolved(Some("9.4"))),
            ("resolved", None, resolved(None)),
        ] {
            assert_eq!(StateChange::parse(state, version).unwrap(), expected);
        }
        for state in ["regressed", "", "New", "closed"] {
            assert_eq!(field(StateChange::parse(state, None)), "state");
        }
        for (state, version) in [("new", "9.4"), ("resolved", &"9".repeat(65)), ("resolved", "9\n4")] {
            assert_eq!(field(StateChange::parse(state, Some(version))), "resolved_in");
        }
    }
}
