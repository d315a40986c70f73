//! The port to the search. It only reads.

use super::model::{Hit, SearchQuery};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use async_trait::async_trait;

/// Finds records by GUID, name, SerialNumber or request id.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait SearchRepository: Send + Sync + 'static {
    /// At most `limit` records of each kind that match, of one organization or of all (`None`), in the order of the
    /// variants of [`super::Thing`]. A record matches by
    ///
    /// - GUID: computers, devices, queues, jobs, resources, crash reports and groups;
    /// - a part of the name, without case as far as the database engine supports it: organizations, users, computers,
    ///   devices, queues and jobs;
    /// - the beginning of the name, without case: resources;
    /// - SerialNumber, without case: computers;
    /// - request id, exactly: refusals of the organization. With `None`, refusals of callers whose organization isn't
    ///   known match, too.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        query: &SearchQuery,
        limit: u64,
    ) -> Result<Vec<Hit>, StoreError>;
}
