//! The port through which the operator changes the fleet.

use super::{Applied, Fleet, NewKey, Preview};
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// The registered fleet.
///
/// Every write MUST be one atomic, durable step: after an error nothing of it is applied.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait FleetRegistry: Send + Sync + 'static {
    /// Adds what is missing, updates names and relations, removes nothing (decision O2). `uses` of a
    /// queue or job replaces its former one where it is given. A user without any key, a revoked one
    /// included, gets the one that `fleet` brings, else the one that `new_keys` holds for it
    /// (decision A6). Retired records are left as they are; the hardware hash of one is given to another computer that
    /// the file names with it. MUST report both, relations to retired records, and a new organization or user whose name
    /// differs from a registered one by case only.
    async fn apply(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Applied, RegistryError>;

    /// What [`FleetRegistry::apply`] would do, of which nothing MUST stay. What it would refuse is refused.
    async fn preview(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Preview, RegistryError>;

    /// The registered fleet in the form of a file, without credentials, all of it or one organization's, which MUST exist;
    /// what is retired is marked. Everything is sorted by name, then GUID.
    async fn export(&self, organization: Option<String>) -> Result<Fleet, RegistryError>;

    /// Registers one more key for a user that exists.
    async fn add_key(&self, key: &NewKey, now: Timestamp) -> Result<(), RegistryError>;

    /// Revokes all keys of a user that exists; they stay revoked for ever (decision A6).
    async fn revoke_keys(&self, organization: &str, user: &str, now: Timestamp)
    -> Result<KeyRevocation, RegistryError>;
}

/// How many keys were revoked; 0 if all were revoked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRevocation {
    pub revoked: u64,
}

/// Why the fleet can't be changed as asked.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error(transparent)]
    Conflict(#[from] FleetConflict),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A record that can't be registered; never shows a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetConflict {
    /// A GUID that another organization has registered: `record` is what the file names, such as `computer 6f96…`, `other`
    /// is what is registered, such as `"RIP-02" of "Zenith Media"`.
    #[error("{record} is registered under another organization, as {other}")]
    OtherOrganization { record: String, other: String },
    /// A hardware hash or key that is in use elsewhere, or a key of a retired user: `record` is what the file names, `other` is what has it.
    #[error("the {credential} of {record} is registered for {other} already")]
    CredentialTaken { credential: &'static str, record: String, other: String },
    /// A name that another organization or user has.
    #[error("{record} can't be renamed: {other} is registered already")]
    NameTaken { record: String, other: String },
    /// A record that was retired, and can't be used until it is brought back.
    #[error("{record} was removed; restore it first")]
    Retired { record: String },
    /// A relation to something that is neither registered nor named by the file.
    #[error("{record} names {target}, which is not registered")]
    UnknownTarget { record: String, target: String },
    /// An organization or user that doesn't exist.
    #[error("{record} is not registered")]
    NotFound { record: String },
}
