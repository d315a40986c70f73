//! The port that renames and retires records.

use super::{FleetRecord, RegistryError};
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Renames and retires what is registered.
///
/// A retired record MUST NOT authenticate, be the target of a request, or hold a resource in use; what was stored with it
/// stays, and export marks it. A fleet file MUST NOT bring it back. Every change MUST be one atomic, durable step that takes
/// effect as decision A6 says.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait RecordRegistry: Send + Sync + 'static {
    /// Renames an organization that exists. Its records, keys and data stay its own. No other organization may have the
    /// new name.
    async fn rename_organization(&self, name: &str, new_name: &str) -> Result<(), RegistryError>;

    /// Renames a user that exists. No other user of the organization may have the new name.
    async fn rename_user(&self, organization: &str, name: &str, new_name: &str) -> Result<(), RegistryError>;

    /// Retires a record that exists, at a time, or brings it back with `None`; whether that changed it.
    async fn set_retired(
        &self,
        organization: &str,
        record: &FleetRecord,
        retired: Option<Timestamp>,
    ) -> Result<bool, RegistryError>;
}
