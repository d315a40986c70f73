//! Why a use case of operators fails.

use crate::error::StoreError;
use std::time::Duration;

/// Why a use case of operators fails. Adapters know the status and the form of each.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// It doesn't exist, or belongs to an organization that the operator doesn't see (decision P8).
    #[error("{0} is not registered")]
    NotFound(String),
    /// The operator's role doesn't allow it (decision P8).
    #[error("{0}")]
    Forbidden(&'static str),
    /// A value can't be used.
    #[error("{field}: {message}")]
    Invalid { field: &'static str, message: String },
    /// It exists already, or was changed before.
    #[error("{0}")]
    Conflict(String),
    /// Another operator changed the record since it was read.
    #[error("{0} was changed meanwhile; read it again, then decide")]
    Stale(String),
    /// Name or password is wrong; it isn't said which (decision P4).
    #[error("the name or the password is wrong")]
    WrongCredentials,
    /// Too many wrong passwords (decision P4).
    #[error("too many wrong passwords; try again in {} s", retry_after.as_secs().max(1))]
    TooManyFailures { retry_after: Duration },
    /// The code of the first start was used, is too old, or never existed (decision P2).
    #[error("the setup code is not valid")]
    SetupCodeInvalid,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OperatorError {
    /// That a value can't be used.
    #[must_use]
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { field, message: message.into() }
    }
}
