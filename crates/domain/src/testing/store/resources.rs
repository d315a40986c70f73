//! The resources in memory.

use super::{InMemoryStore, State};
use crate::activity::ResourceKey;
use crate::caller::OrganizationId;
use crate::error::{StoreError, WriteError};
use crate::guid::ResourceGuid;
use crate::resource::{
    DeleteOutcome, Domain, ListFilter, NewResource, PmmKey, Preconditions, ResourceListItem, ResourceRepository,
    StoreOutcome, StoredResource,
};
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use std::cmp::Reverse;

impl State {
    fn is_published(&self, resource: &StoredResource) -> bool {
        resource.domain == Domain::Public && self.fleet.is_publisher(resource.organization)
    }

    /// The resource if clients of `organization` may see it (decision T15).
    pub(super) fn visible_resource(&self, organization: OrganizationId, key: ResourceKey) -> Option<&StoredResource> {
        let stored = self.resources.get(&(key.organization, key.guid))?;
        (key.organization == organization || self.is_published(stored)).then_some(stored)
    }
}

#[async_trait]
impl ResourceRepository for InMemoryStore {
    async fn store(
        &self,
        organization: OrganizationId,
        resource: NewResource,
        now: Timestamp,
    ) -> Result<StoreOutcome, WriteError> {
        let mut state = self.working().map_err(WriteError::NotStored)?;
        let former = state.resources.get(&(organization, resource.guid)).cloned();
        if let Some(former) = former.as_ref().filter(|former| former.modified >= resource.modified) {
            return Ok(StoreOutcome::NotNewer(Box::new(former.clone())));
        }
        let kept = former.as_ref().map_or(Domain::Private, |former| former.domain);
        let stored = StoredResource {
            organization,
            guid: resource.guid,
            resource_type: resource.resource_type,
            checksum: resource.checksum,
            modified: resource.modified,
            domain: resource.domain.unwrap_or(kept),
            meta: resource.meta,
            content: resource.content,
        };
        state.resources.insert((organization, stored.guid), stored);
        if let Some(former) = former {
            state.discarded.insert(former.content.key, now);
        }
        Ok(StoreOutcome::Stored)
    }

    async fn delete(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        preconditions: Preconditions,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError> {
        let mut state = self.working()?;
        let Some(stored) = state.resources.get(&(organization, guid)) else {
            return Ok(DeleteOutcome::NotFound);
        };
        if let Err(other) = preconditions.check(stored.checksum, stored.modified) {
            return Ok(DeleteOutcome::OtherState(other));
        }
        if let Some(by) = state.fleet.user_of(organization, guid) {
            return Ok(DeleteOutcome::InUse { by });
        }
        if let Some(former) = state.resources.remove(&(organization, guid)) {
            state.discarded.insert(former.content.key, now);
        }
        Ok(DeleteOutcome::Deleted)
    }

    async fn find(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
    ) -> Result<Option<StoredResource>, StoreError> {
        Ok(self.working()?.resources.get(&(organization, guid)).cloned())
    }

    async fn find_published(&self, guid: ResourceGuid) -> Result<Option<StoredResource>, StoreError> {
        let state = self.working()?;
        let published =
            state.resources.values().filter(|resource| resource.guid == guid && state.is_published(resource));
        Ok(published.min_by_key(|resource| (Reverse(resource.modified), resource.organization)).cloned())
    }

    async fn exists_anywhere(&self, guid: ResourceGuid) -> Result<bool, StoreError> {
        Ok(self.working()?.resources.keys().any(|(_, existing)| *existing == guid))
    }

    async fn find_by_pmm(
        &self,
        organization: OrganizationId,
        key: &PmmKey,
    ) -> Result<Option<StoredResource>, StoreError> {
        let state = self.working()?;
        let matching = own(&state, organization).filter(|resource| resource.meta.pmm.as_ref() == Some(key));
        Ok(matching.min_by_key(|resource| (Reverse(resource.modified), resource.guid)).cloned())
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: ListFilter,
    ) -> BoxStream<'static, Result<ResourceListItem, StoreError>> {
        let read = move |state: &State| {
            let of_type = |resource: &StoredResource| {
                filter.types.as_ref().is_none_or(|types| types.contains(&resource.resource_type.folded()))
            };
            let matching = own(state, organization)
                .filter(|resource| resource.domain == filter.domain && of_type(resource))
                .cloned();
            let mut matching: Vec<StoredResource> = matching.collect();
            matching.sort_by_cached_key(|resource| (resource.meta.sort_key(), resource.guid));
            matching
        };
        self.stream(read, |resource| ResourceListItem {
            guid: resource.guid,
            resource_type: resource.resource_type,
            checksum: resource.checksum,
            name: resource.meta.name,
        })
    }
}

fn own(state: &State, organization: OrganizationId) -> impl Iterator<Item = &StoredResource> {
    state.resources.values().filter(move |resource| resource.organization == organization)
}
