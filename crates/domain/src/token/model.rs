//! A token of an operator.

use crate::access::CredentialDigest;
use crate::operator::{OperatorId, OperatorName, Role, Scope, TokenId};
use crate::text::Folded;
use crate::timestamp::Timestamp;
use std::time::Duration;

/// How every token begins.
pub const TOKEN_PREFIX: &str = "plt_";

/// How long a token is valid if it isn't said (decision P6).
pub const DEFAULT_TOKEN_LIFETIME: Duration = Duration::from_hours(90 * 24);

/// The longest time for which a token is valid (decision P6).
pub const MAX_TOKEN_LIFETIME: Duration = Duration::from_hours(366 * 24);

/// A token to be stored. The token itself is shown once and stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    pub digest: CredentialDigest,
    pub operator: OperatorId,
    pub name: OperatorName,
    pub role: Role,
    pub issued: Timestamp,
    pub expires: Timestamp,
}

/// A stored token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub name: String,
    /// The name of its operator.
    pub operator: String,
    /// The role that was asked for; never more than that of the operator counts.
    pub role: Role,
    /// The scope of its operator.
    pub scope: Scope,
    pub issued: Timestamp,
    pub expires: Timestamp,
    /// To the minute; `None` before its first use.
    pub last_used: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

impl Token {
    /// Whether it counts at a time.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && now < self.expires
    }
}

/// Which tokens to list: all that fit every condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenFilter {
    /// Those of the operators of this scope.
    pub scope: Scope,
    /// Those of the operator of this name.
    pub operator: Option<Folded>,
}
