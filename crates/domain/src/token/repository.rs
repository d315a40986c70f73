//! The port to the tokens.

use super::model::{NewToken, Token, TokenFilter};
use crate::access::CredentialDigest;
use crate::audit::NewAuditRecord;
use crate::error::StoreError;
use crate::operator::{Operator, TokenId};
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// The tokens, by their SHA-256. Each change MUST be one atomic step together with its audit record. A revocation, also by
/// the removal of the operator, MUST take effect on every process within 5 seconds (decision P6).
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait TokenRepository: Send + Sync + 'static {
    /// Stores a token; `None` if there is no such operator.
    async fn add(&self, new: &NewToken, record: &NewAuditRecord) -> Result<Option<TokenId>, StoreError>;

    /// The token of this digest with its operator as it is now, even if it has expired or was revoked.
    async fn find(&self, digest: CredentialDigest) -> Result<Option<(Token, Operator)>, StoreError>;

    /// The token of this number.
    async fn find_by_id(&self, id: TokenId) -> Result<Option<Token>, StoreError>;

    /// The tokens that match and have lower numbers than `after`, the highest first, `limit` at most; those that have
    /// expired or were revoked too.
    async fn page(&self, filter: &TokenFilter, after: Option<TokenId>, limit: u64) -> Result<Vec<Token>, StoreError>;

    /// Revokes a token, for ever; `false` if it was revoked before, which stores no record.
    async fn revoke(&self, id: TokenId, now: Timestamp, record: &NewAuditRecord) -> Result<bool, StoreError>;

    /// Notes a use. An earlier time MUST NOT replace a later one.
    async fn note_use(&self, id: TokenId, now: Timestamp) -> Result<(), StoreError>;
}
