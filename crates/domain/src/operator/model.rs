//! An operator.

use super::password::PasswordHash;
use crate::caller::OrganizationId;
use crate::text::{Folded, is_blank};
use crate::timestamp::Timestamp;
use std::fmt;

/// Longest name of an operator or a token, in characters (decision P1).
const MAX_NAME_LENGTH: usize = 100;

/// The number of an operator in the database. It is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperatorId(pub i64);

/// The number of a token in the database. It is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub i64);

/// What an operator may do. The lesser role comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads.
    Viewer,
    /// Reads and changes.
    Admin,
}

impl Role {
    pub const ALL: [Self; 2] = [Self::Viewer, Self::Admin];

    /// The word for it in commands, records and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Admin => "admin",
        }
    }

    /// The role of this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// Whose records an operator sees and changes (decision P8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    All,
    Organization(OrganizationId),
}

impl Scope {
    /// The one organization; `None` for all.
    #[must_use]
    pub fn organization(self) -> Option<OrganizationId> {
        match self {
            Self::All => None,
            Self::Organization(id) => Some(id),
        }
    }

    /// Whether whatever belongs to `other` belongs to this scope too.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self == Self::All || self == other
    }
}

impl From<Option<OrganizationId>> for Scope {
    fn from(organization: Option<OrganizationId>) -> Self {
        organization.map_or(Self::All, Self::Organization)
    }
}

/// A name for an operator or a token: one line of at most 100 characters, without white space around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorName(String);

impl OperatorName {
    /// Reads a name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if is_blank(name) {
            return Err("must not be blank".to_owned());
        }
        if name.chars().count() > MAX_NAME_LENGTH {
            return Err(format!("must have at most {MAX_NAME_LENGTH} characters"));
        }
        if name.chars().any(char::is_control) {
            return Err("must not hold control characters".to_owned());
        }
        Ok(Self(name.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name for comparison without case.
    #[must_use]
    pub fn folded(&self) -> Folded {
        Folded::of(&self.0)
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A registered operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    pub name: String,
    pub role: Role,
    pub scope: Scope,
    /// The name of the one organization; `None` for all.
    pub organization: Option<String>,
    pub created: Timestamp,
    pub last_sign_in: Option<Timestamp>,
}

impl Operator {
    /// How records name the operator.
    #[must_use]
    pub fn target(name: &str) -> String {
        format!("operator \"{name}\"")
    }
}

/// An operator to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOperator {
    pub name: OperatorName,
    pub role: Role,
    /// The name of the one organization; `None` for all.
    pub organization: Option<String>,
    pub password: PasswordHash,
    pub created: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision P1.
    #[test]
    fn a_name_has_at_most_100_characters_and_one_line() {
        let parsed = |text: &str| OperatorName::parse(text).map(|name| name.to_string());
        assert_eq!(parsed("  Ann Üzer "), Ok("Ann Üzer".to_owned()));
        assert_eq!(parsed(&"ü".repeat(100)), Ok("ü".repeat(100)));
        assert!(parsed(&"ü".repeat(101)).unwrap_err().contains("100"));
        assert!(parsed(" \t ").unwrap_err().contains("blank"));
        assert!(parsed("a\nb").unwrap_err().contains("control"));
        assert_eq!(OperatorName::parse("ANN").unwrap().folded(), OperatorName::parse("ann").unwrap().folded());
    }

    /// Decision P8.
    #[test]
    fn a_scope_covers_itself_and_all_covers_everything() {
        let [one, other] = [1, 2].map(|id| Scope::Organization(OrganizationId(id)));
        assert!(Scope::All.covers(one) && Scope::All.covers(Scope::All) && one.covers(one));
        assert!(!one.covers(other) && !one.covers(Scope::All));
        assert!(Role::Viewer < Role::Admin, "a token has the lesser role");
    }
}
