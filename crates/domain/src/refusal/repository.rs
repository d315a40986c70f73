//! The port to the refusals that are kept.

use super::model::{NewRefusal, ReasonCount, RefusalCursor, Refused, RefusedComputer};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::text::Folded;
use crate::timestamp::Timestamp;
use async_trait::async_trait;

/// Which refusals to list: all that fit every condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalFilter {
    /// The caller's organization, or that of the computer that was named.
    pub organization: Option<OrganizationId>,
    pub computer: Option<ComputerGuid>,
    /// The code of the reason, exactly.
    pub reason: Option<String>,
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
        after: Option<RefusalCursor>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError>;

    /// Counts the refusals since a time by reason, of one organization as in [`RefusalFilter`] or of all; the most
    /// frequent first, of one count by the code.
    async fn count(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonCount>, StoreError>;

    /// The registered computers that have one of these GUIDs or SerialNumbers, retired ones too, in any order.
    async fn computers(
        &self,
        guids: &[ComputerGuid],
        serial_numbers: &[Folded],
    ) -> Result<Vec<RefusedComputer>, StoreError>;
}
