//! Who calls a use case of operators.

use super::error::OperatorError;
use super::model::{Operator, Role, Scope, TokenId};
use crate::access::CredentialDigest;
use crate::audit::{AuditAction, AuditedScope, AuditedValue, Author, AuthorCredential, NewAuditRecord};
use crate::caller::OrganizationId;
use crate::timestamp::Timestamp;

/// Who calls a use case, and what they may do: an operator, or a command on the server's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub author: Author,
    pub role: Role,
    pub scope: Scope,
}

impl Actor {
    /// A command, which may do everything; `user` is the system's user who runs it.
    #[must_use]
    pub fn command(user: impl Into<String>) -> Self {
        Self { author: Author::command(user), role: Role::Admin, scope: Scope::All }
    }

    /// Passes if the actor may change something (decision P8).
    ///
    /// # Errors
    /// [`OperatorError::Forbidden`]
    pub fn require_admin(&self) -> Result<(), OperatorError> {
        match self.role {
            Role::Admin => Ok(()),
            Role::Viewer => Err(OperatorError::Forbidden("this needs the role admin")),
        }
    }

    /// The organization to look at: the one that is asked for, else the actor's own, else all (`None`).
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for an organization that the actor doesn't see (decision P8).
    pub fn seen(&self, asked: Option<OrganizationId>) -> Result<Option<OrganizationId>, OperatorError> {
        match (self.scope.organization(), asked) {
            (Some(own), Some(asked)) if own != asked => Err(OperatorError::NotFound("this organization".to_owned())),
            (own, asked) => Ok(own.or(asked)),
        }
    }

    /// An audit record of a change that this actor makes.
    #[must_use]
    pub fn record(
        &self,
        at: Timestamp,
        action: AuditAction,
        scope: Scope,
        target: String,
        values: Vec<AuditedValue>,
    ) -> NewAuditRecord {
        let scope = scope.organization().map_or(AuditedScope::All, AuditedScope::Organization);
        NewAuditRecord { at, author: self.author.clone(), scope, action, target, values }
    }
}

/// An operator whose session or token is valid (decisions P3, P6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    pub operator: Operator,
    /// The role that counts: a token never has more rights than its operator.
    pub role: Role,
    pub by: SignedInBy,
}

/// How an operator is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedInBy {
    Session {
        digest: CredentialDigest,
        /// When it ends, even with requests.
        ends: Timestamp,
    },
    Token {
        id: TokenId,
        name: String,
        expires: Timestamp,
    },
}

impl SignedIn {
    /// The actor of a request from an address.
    #[must_use]
    pub fn actor(&self, address: Option<String>) -> Actor {
        let credential = match &self.by {
            SignedInBy::Session { .. } => AuthorCredential::Session,
            SignedInBy::Token { name, .. } => AuthorCredential::Token(name.clone()),
        };
        let author = Author { name: self.operator.name.clone(), credential, address };
        Actor { author, role: self.role, scope: self.operator.scope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision P8.
    #[test]
    fn a_viewer_changes_nothing_and_a_command_everything() {
        let command = Actor::command("root");
        assert!(command.require_admin().is_ok());
        let viewer = Actor { role: Role::Viewer, ..command };
        assert!(matches!(viewer.require_admin(), Err(OperatorError::Forbidden(_))));
    }
}
