//! The port to the sessions of operators.

use super::model::{NewSession, Session};
use crate::access::CredentialDigest;
use crate::audit::NewAuditRecord;
use crate::error::StoreError;
use crate::operator::Operator;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// The sessions of operators, by the SHA-256 of their secrets. That a session was ended, also by a change of its operator,
/// MUST take effect on every process within 5 seconds (decision P3).
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait SessionRepository: Send + Sync + 'static {
    /// Begins a session, notes the operator's sign-in and stores the record, in one step; `false` if there is no such
    /// operator or the password has been changed.
    async fn add(&self, session: &NewSession, record: &NewAuditRecord) -> Result<bool, StoreError>;

    /// The session of this digest with its operator as it is now, even if it has ended by time.
    async fn find(&self, digest: CredentialDigest) -> Result<Option<(Session, Operator)>, StoreError>;

    /// Notes a request. An earlier time MUST NOT replace a later one.
    async fn note_use(&self, digest: CredentialDigest, now: Timestamp) -> Result<(), StoreError>;

    /// Ends a session and stores the record, in one step; `false` if it had ended.
    async fn remove(&self, digest: CredentialDigest, record: &NewAuditRecord) -> Result<bool, StoreError>;

    /// Removes sessions that were last used before one time or began before another; how many.
    async fn prune(&self, used_before: Timestamp, started_before: Timestamp) -> Result<u64, StoreError>;
}
