//! The port to the registered credentials.

use super::CredentialDigest;
use crate::caller::{CallingComputer, OrganizationId};
use crate::error::StoreError;
use crate::text::Folded;
use async_trait::async_trait;

/// The user to whom a valid `MisKey` belongs (decision A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    pub organization: OrganizationId,
    pub organization_name: String,
    pub user: String,
}

/// The computer that is registered with a `HardwareHash` (decision A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredComputer {
    pub organization: OrganizationId,
    pub organization_name: String,
    pub computer: CallingComputer,
    /// The serial number under which it is registered (decision A7: compared without case).
    pub serial_number: Folded,
}

/// Looks credentials up by digest, so that comparing them leaks no timing (decision A9).
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CredentialDirectory: Send + Sync + 'static {
    /// The holder of this `MisKey`. A revoked key MUST NOT be found (decision A3); a registration or
    /// revocation MUST take effect within 5 seconds (decision A6).
    async fn find_key_holder(&self, mis_key: CredentialDigest) -> Result<Option<KeyHolder>, StoreError>;

    /// The computer that is registered with this `HardwareHash`; the same MUSTs hold.
    async fn find_computer(&self, hardware_hash: CredentialDigest) -> Result<Option<RegisteredComputer>, StoreError>;
}
