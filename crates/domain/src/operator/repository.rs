//! The ports to operators and to the first start.

use super::model::{NewOperator, Operator, OperatorId, Scope};
use super::password::PasswordHash;
use crate::access::CredentialDigest;
use crate::audit::NewAuditRecord;
use crate::error::StoreError;
use crate::text::Folded;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// An operator with the hash of the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundOperator {
    pub operator: Operator,
    pub password: PasswordHash,
}

/// What became of an operator to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddOutcome {
    Added(Operator),
    /// Another operator has the name, without case.
    NameTaken,
    /// No organization has the name.
    UnknownOrganization,
}

/// The registered operators. Each change MUST be one atomic step together with its audit record; a change that isn't made
/// MUST store no record.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait OperatorRepository: Send + Sync + 'static {
    /// The operators of a scope whose folded names come after `after`, in the order of folded names, `limit` at most.
    async fn page(&self, scope: Scope, after: Option<Folded>, limit: u64) -> Result<Vec<Operator>, StoreError>;

    /// The operator of this name.
    async fn find(&self, name: &Folded) -> Result<Option<FoundOperator>, StoreError>;

    /// Registers an operator.
    async fn add(&self, new: &NewOperator, record: &NewAuditRecord) -> Result<AddOutcome, StoreError>;

    /// Sets the password and ends all sessions of the operator (decision P3); `false` if there is no such operator.
    async fn set_password(
        &self,
        id: OperatorId,
        password: &PasswordHash,
        record: &NewAuditRecord,
    ) -> Result<bool, StoreError>;

    /// Removes the operator with all sessions and tokens; `false` if there is no such operator.
    async fn remove(&self, id: OperatorId, record: &NewAuditRecord) -> Result<bool, StoreError>;
}

/// The codes of the first start (decision P2), stored as digests, so that every process knows them.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait SetupRepository: Send + Sync + 'static {
    /// Stores a code while there is no operator, and forgets those that have expired; `false` if there is one.
    async fn offer(&self, code: CredentialDigest, expires: Timestamp, now: Timestamp) -> Result<bool, StoreError>;

    /// Whether this code is stored and hasn't expired. It stays valid.
    async fn is_offered(&self, code: CredentialDigest, now: Timestamp) -> Result<bool, StoreError>;

    /// Registers the first operator, stores the record and forgets all codes; `None` if the code is not valid or there is
    /// an operator. Of several calls at once one MUST succeed at most.
    async fn complete(
        &self,
        code: CredentialDigest,
        now: Timestamp,
        new: &NewOperator,
        record: &NewAuditRecord,
    ) -> Result<Option<Operator>, StoreError>;
}
