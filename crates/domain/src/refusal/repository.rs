//! The port to the refusals that are kept.

use super::model::{NewRefusal, Refused};
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Which refusals to list: all that fit every condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalFilter {
    /// The name of an organization, exactly: the caller's, or that of the computer that was named.
    pub organization: Option<String>,
    pub computer: Option<ComputerGuid>,
    /// From this time on.
    pub since: Option<Timestamp>,
}

/// Refusals, the newest of each owner.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait RefusalRepository: Send + Sync + 'static {
    /// Keeps refusals, in this order, all or none. Of each owner that they name the newest
    /// [`super::KEPT_PER_OWNER`] MUST stay and older ones go; of all callers whose organization isn't known the
    /// newest [`super::KEPT_OF_UNKNOWN`] MUST stay and older ones go. A computer that was named changes no owner.
    async fn add(&self, refusals: &[NewRefusal]) -> Result<(), StoreError>;

    /// Removes what is older than `before`, at most `limit` of them; says how many.
    async fn prune(&self, before: Timestamp, limit: u64) -> Result<u64, StoreError>;

    /// The newest `limit` that fit and, where `after` is given, come after that one: by time, then by
    /// number, both falling.
    async fn page(
        &self,
        filter: &RefusalFilter,
        after: Option<(Timestamp, i64)>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError>;
}
