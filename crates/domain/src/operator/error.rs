//! Errors of the use cases of operators.

use crate::error::StoreError;
use std::time::Duration;

/// An error of a use case of operators. The adapters choose its status and form.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The record doesn't exist, or belongs to an organization that the operator doesn't see (decision P8).
    #[error("{0} is not registered")]
    NotFound(String),
    /// The operator's role doesn't allow it (decision P8).
    #[error("{0}")]
    Forbidden(&'static str),
    /// A value can't be used.
    #[error("{field}: {message}")]
    Invalid { field: &'static str, message: String },
    /// The record exists already, or was changed before.
    #[error("{0}")]
    Conflict(String),
    /// Another operator changed the record since it was read.
    #[error("{0} was changed in the meantime; read it again")]
    Stale(String),
    /// The name or the password is wrong; the error doesn't say which (decision P4).
    #[error("the name or the password is wrong")]
    WrongCredentials,
    /// Too many wrong passwords (decision P4).
    #[error("too many wrong passwords; try again in {} s", retry_after.as_secs().max(1))]
    TooManyFailures { retry_after: Duration },
    /// The setup code was used, has expired, or never existed (decision P2).
    #[error("the setup code is not valid")]
    SetupCodeInvalid,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OperatorError {
    /// The error for a value that can't be used.
    #[must_use]
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { field, message: message.into() }
    }
}
