//! The port to last requests and fetches.

use super::{
    ComputerFetch, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey, Sender, UserActivity, UserFetch,
};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use async_trait::async_trait;
use futures_util::stream::BoxStream;

/// Last requests and fetches (decisions I8 and I9).
///
/// The latest request of a sender MUST win, and the latest fetch of a resource by a holder, in any order of the calls
/// and from any number of processes. Users that aren't registered are left out.
///
/// Memory MUST NOT grow with the length of a list, and no connection may be held while its reader is slow.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait ActivityRepository: Send + Sync + 'static {
    /// Stores last requests. `requests` has each sender once.
    async fn store_requests(&self, requests: &[(Sender, LastRequest)]) -> Result<(), StoreError>;

    /// Stores fetches. `fetches` has each pair of holder and resource once. Of each user and resource, the latest
    /// [`SERIAL_NUMBERS_PER_USER`](super::SERIAL_NUMBERS_PER_USER) fetches are kept; earlier ones MUST be removed.
    async fn store_fetches(&self, fetches: &[((Holder, ResourceKey), Fetch)]) -> Result<(), StoreError>;

    /// The users of an organization, by name, each with its last request.
    fn users(&self, organization: OrganizationId) -> BoxStream<'static, Result<UserActivity, StoreError>>;

    /// All computers of an organization that aren't removed, by name, then GUID, each with its fetch of a resource.
    fn computers_of_resource(
        &self,
        organization: OrganizationId,
        resource: ResourceKey,
    ) -> BoxStream<'static, Result<ComputerFetch, StoreError>>;

    /// The users of an organization who fetched a resource without a registered computer, by name, then SerialNumber
    /// without case.
    fn users_of_resource(
        &self,
        organization: OrganizationId,
        resource: ResourceKey,
    ) -> BoxStream<'static, Result<UserFetch, StoreError>>;

    /// The resources of which a computer of the organization has an outdated content, by the number of the resource's
    /// organization, then GUID. Deleted resources are left out. A resource of another organization MUST be left out
    /// unless a publisher publishes it now (decisions P8 and T15).
    fn outdated_resources(
        &self,
        organization: OrganizationId,
        computer: ComputerGuid,
    ) -> BoxStream<'static, Result<OutdatedResource, StoreError>>;
}
