//! The port to the stored resources.

use super::{ListFilter, NewResource, OtherState, PmmKey, Preconditions, ResourceListItem, StoredResource};
use crate::caller::OrganizationId;
use crate::error::{StoreError, WriteError};
use crate::guid::ResourceGuid;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use futures_util::stream::BoxStream;

/// The outcome of storing a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreOutcome {
    /// It is the current one now, durably.
    Stored,
    /// Nothing changed: the stored one, given here, is as new or newer (decision T2).
    NotNewer(Box<StoredResource>),
}

/// The outcome of deleting a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// It is gone, durably.
    Deleted,
    /// Nothing changed: the stored one, given here, doesn't meet the preconditions (decision T17).
    OtherState(OtherState),
    /// Nothing changed: this record uses it, for example `queue "Banner"` (decision O3).
    InUse { by: String },
    /// The organization has no such resource.
    NotFound,
}

/// The resources of all organizations, each identified by organization and GUID (decision T1).
///
/// Every write MUST be one atomic, durable step, also against other server processes, and MUST run
/// to its end once begun, even if its caller goes away.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait ResourceRepository: Send + Sync + 'static {
    /// Adds the resource or, if its `modified` is strictly newer, replaces the stored one whole. Of any number of
    /// concurrent calls the newest MUST win (decisions T5, T14). The blob that it replaced MUST be entered as discarded
    /// at `now` in the same step. If the resource is not stored, the caller removes its blob. So
    /// [`WriteError::NotStored`] MUST be returned only if the resource can't be stored any more, and MUST be if the
    /// database refused it. `domain: None` keeps the stored domain (T10).
    async fn store(
        &self,
        organization: OrganizationId,
        resource: NewResource,
        now: Timestamp,
    ) -> Result<StoreOutcome, WriteError>;

    /// Deletes the resource if it meets the preconditions, checked first, and no queue or job of the organization uses
    /// it; the checks and the deletion MUST be one step. Its blob MUST be entered as discarded at `now` in the same step.
    async fn delete(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        preconditions: Preconditions,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError>;

    /// The organization's own resource.
    async fn find(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
    ) -> Result<Option<StoredResource>, StoreError>;

    /// The Public resource with this GUID of a publisher; of several the newest, then the one of the
    /// lowest organization number (decision T15).
    async fn find_published(&self, guid: ResourceGuid) -> Result<Option<StoredResource>, StoreError>;

    /// Whether any organization has a resource with this GUID (decision T15).
    async fn exists_anywhere(&self, guid: ResourceGuid) -> Result<bool, StoreError>;

    /// The organization's resource whose ProfileGroup, Media and Mode are `key`; of several the one
    /// with the newest Timestamp, then the lowest GUID (decision T20).
    async fn find_by_pmm(
        &self,
        organization: OrganizationId,
        key: &PmmKey,
    ) -> Result<Option<StoredResource>, StoreError>;

    /// The organization's resources that match, by [`super::Meta::sort_key`], then GUID (decision T19). While others
    /// store resources, a list MUST hold each GUID at most once, and each resource that is there all the while, also
    /// one that is renamed. Memory MUST NOT grow with their number, and no connection may be held while the reader is
    /// slow.
    fn list(
        &self,
        organization: OrganizationId,
        filter: ListFilter,
    ) -> BoxStream<'static, Result<ResourceListItem, StoreError>>;
}
