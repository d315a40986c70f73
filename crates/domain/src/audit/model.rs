//! An audit record.

use crate::caller::OrganizationId;
use crate::text::Folded;
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The name of the operator, or of the system's user who runs a command.
    pub name: String,
    pub credential: AuthorCredential,
    /// The client's address; `None` for a command.
    pub address: Option<String>,
}

impl Author {
    /// The system's user who runs a command.
    #[must_use]
    pub fn command(user: impl Into<String>) -> Self {
        Self { name: user.into(), credential: AuthorCredential::Command, address: None }
    }
}

/// The credential of an author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorCredential {
    Session,
    /// A token, by its name.
    Token(String),
    /// A command on the server's machine.
    Command,
    /// The password of a sign-in, right or wrong.
    Password,
    /// The code of the first start (decision P2).
    SetupCode,
}

impl AuthorCredential {
    /// The word for it in records and listings, and the name of a token.
    #[must_use]
    pub fn parts(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Session => ("session", None),
            Self::Token(name) => ("token", Some(name)),
            Self::Command => ("command", None),
            Self::Password => ("password", None),
            Self::SetupCode => ("setup_code", None),
        }
    }

    /// The credential of these parts.
    #[must_use]
    pub fn from_parts(word: &str, token: Option<String>) -> Option<Self> {
        Some(match word {
            "session" => Self::Session,
            "token" => Self::Token(token.unwrap_or_default()),
            "command" => Self::Command,
            "password" => Self::Password,
            "setup_code" => Self::SetupCode,
            _ => return None,
        })
    }
}

macro_rules! actions {
    ($($action:ident $word:literal,)+) => {
        /// The action of an audit record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AuditAction {
            $($action,)+
        }

        impl AuditAction {
            pub const ALL: &[Self] = &[$(Self::$action,)+];

            /// The text form in records and lists. It never changes after its release.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$action => $word,)+
                }
            }

            /// Parses the text form of [`AuditAction::code`].
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|action| action.code() == word)
            }
        }
    };
}

actions! {
    SignedIn "session.started",
    SignInFailed "session.refused",
    SignedOut "session.ended",
    OperatorAdded "operator.added",
    OperatorRemoved "operator.removed",
    PasswordReset "password.reset",
    PasswordChanged "password.changed",
    TokenIssued "token.issued",
    TokenRevoked "token.revoked",
    FleetApplied "fleet.applied",
    OrganizationRenamed "organization.renamed",
    UserRenamed "user.renamed",
    RecordRemoved "record.removed",
    RecordRestored "record.restored",
    KeyIssued "key.issued",
    KeyRevoked "key.revoked",
    CrashGroupChanged "crash_group.changed",
    CrashReportsRequeued "crash_reports.requeued",
    OrphansRemoved "orphans.removed",
}

/// The scope of a change. Admins of one organization see only the records of that organization (decision P8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditedScope {
    /// Admins of all organizations see it.
    All,
    Organization(OrganizationId),
    /// The organization that has this name after the change.
    Named(String),
}

/// A value before and after a change. It is never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedValue {
    /// The name of the value.
    pub member: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl AuditedValue {
    /// A value that changed.
    #[must_use]
    pub fn changed(member: impl Into<String>, before: impl Into<String>, after: impl Into<String>) -> Self {
        Self { member: member.into(), before: Some(before.into()), after: Some(after.into()) }
    }

    /// A value that is new.
    #[must_use]
    pub fn added(member: impl Into<String>, after: impl Into<String>) -> Self {
        Self { member: member.into(), before: None, after: Some(after.into()) }
    }

    /// A value that is gone.
    #[must_use]
    pub fn removed(member: impl Into<String>, before: impl Into<String>) -> Self {
        Self { member: member.into(), before: Some(before.into()), after: None }
    }
}

/// A record to be stored in the transaction of the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditRecord {
    pub at: Timestamp,
    pub author: Author,
    pub scope: AuditedScope,
    pub action: AuditAction,
    /// The record that was changed, such as `operator "Ann"`.
    pub target: String,
    pub values: Vec<AuditedValue>,
}

/// A stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// Grows with each record.
    pub id: i64,
    /// The organization whose admins see it, by its present name.
    pub organization: Option<String>,
    pub record: NewAuditRecord,
}

impl AuditRecord {
    /// The cursor of the page after this record.
    #[must_use]
    pub fn cursor(&self) -> AuditCursor {
        AuditCursor { at: self.record.at, id: self.id }
    }
}

/// A cursor of the list, which is sorted by time, then id, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditCursor {
    pub at: Timestamp,
    pub id: i64,
}

/// Conditions of a list of records; a record must meet all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The organization that the records belong to.
    pub organization: Option<OrganizationId>,
    /// The author's name, without case.
    pub who: Option<Folded>,
    pub what: Option<AuditAction>,
    /// The first time, inclusive.
    pub from: Option<Timestamp>,
    /// The last time, inclusive.
    pub to: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_action_and_credential_has_a_word_of_its_own() {
        let words: HashSet<&str> = AuditAction::ALL.iter().map(|action| action.code()).collect();
        assert_eq!(words.len(), AuditAction::ALL.len());
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::parse(action.code()), Some(*action));
        }
        let credentials = [
            AuthorCredential::Session,
            AuthorCredential::Token("ci".to_owned()),
            AuthorCredential::Command,
            AuthorCredential::Password,
            AuthorCredential::SetupCode,
        ];
        for credential in credentials {
            let (word, token) = credential.parts();
            assert_eq!(AuthorCredential::from_parts(word, token.map(str::to_owned)), Some(credential));
        }
        assert_eq!(AuthorCredential::from_parts("other", None), None);
    }
}
