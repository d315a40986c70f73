//! The port of the search. It only reads.

use super::model::{Hit, SearchQuery};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use async_trait::async_trait;

/// Finds records by what people have at hand.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait SearchRepository: Send + Sync + 'static {
    /// What the text may mean, of one organization or of all of them (`None`): in the order of the variants of
    /// [`super::Thing`], at most `limit` of each.
    ///
    /// By GUID: computers, devices, queues, jobs, resources, crash reports and groups. By name, letters without case where
    /// the engine knows how: organizations, users, computers, devices, queues and jobs whose name holds the text, and
    /// resources whose name begins with it without case. By SerialNumber without case: computers. By request id, exactly:
    /// refusals of the organization, and for all of them those of callers whose organization isn't known.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        query: &SearchQuery,
        limit: u64,
    ) -> Result<Vec<Hit>, StoreError>;
}
