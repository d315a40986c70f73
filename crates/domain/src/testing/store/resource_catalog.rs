//! Lists of resources for operators in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::guid::ResourceGuid;
use crate::page::{Page, PageRequest};
use crate::resource::StoredResource;
use crate::resource_catalog::{
    CatalogCursor, CatalogEntry, CatalogFilter, CatalogSearch, ResourceCatalog, ResourceUse, UseKind,
};
use async_trait::async_trait;

#[async_trait]
impl ResourceCatalog for InMemoryStore {
    async fn page(
        &self,
        filter: &CatalogFilter,
        asked: &PageRequest<CatalogCursor>,
    ) -> Result<Page<CatalogEntry, CatalogCursor>, StoreError> {
        let state = self.working()?;
        let matching = state.resources.values().filter(|resource| matches(filter, resource)).map(entry);
        let is_next = |entry: &CatalogEntry| asked.after.as_ref().is_none_or(|after| entry.cursor() > *after);
        let mut rows: Vec<CatalogEntry> = matching.filter(is_next).collect();
        rows.sort_by_cached_key(CatalogEntry::cursor);
        Ok(asked.page(rows, CatalogEntry::cursor))
    }

    async fn uses(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        limit: u64,
    ) -> Result<Vec<ResourceUse>, StoreError> {
        let state = self.working()?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(queues(&state, organization, guid).chain(jobs(&state, organization, guid)).take(limit).collect())
    }
}

fn matches(filter: &CatalogFilter, resource: &StoredResource) -> bool {
    let is_found = |search: &CatalogSearch| match search {
        CatalogSearch::Guid(guid) => *guid == resource.guid,
        CatalogSearch::Name(name) => resource.meta.sort_key().contains(name.as_str()),
    };
    filter.organization.is_none_or(|organization| organization == resource.organization)
        && filter.resource_type.as_ref().is_none_or(|wanted| *wanted == resource.resource_type.folded())
        && filter.domain.is_none_or(|domain| domain == resource.domain)
        && filter.search.as_ref().is_none_or(is_found)
}

fn entry(resource: &StoredResource) -> CatalogEntry {
    CatalogEntry {
        organization: resource.organization,
        guid: resource.guid,
        resource_type: resource.resource_type.clone(),
        name: resource.meta.name.clone(),
        sort_key: resource.meta.sort_key(),
        domain: resource.domain,
        size: resource.content.size,
        checksum: resource.checksum,
        modified: resource.modified,
    }
}

fn queues(
    state: &State,
    organization: OrganizationId,
    guid: ResourceGuid,
) -> impl Iterator<Item = ResourceUse> + use<'_> {
    let using = state.fleet.queues.iter().filter(move |(id, queue)| {
        queue.organization == organization
            && queue.uses.contains(&guid)
            && !state.fleet.is_retired(organization, FleetRecord::Queue(**id))
    });
    using.map(|(id, queue)| ResourceUse { kind: UseKind::Queue, guid: id.as_uuid(), name: queue.name.clone() })
}

fn jobs(
    state: &State,
    organization: OrganizationId,
    guid: ResourceGuid,
) -> impl Iterator<Item = ResourceUse> + use<'_> {
    let using = state.fleet.jobs.iter().filter(move |(id, job)| {
        job.organization == organization
            && job.uses.contains(&guid)
            && !state.fleet.is_retired(organization, FleetRecord::Job(**id))
    });
    using.map(|(id, job)| ResourceUse { kind: UseKind::Job, guid: id.as_uuid(), name: job.name.clone() })
}
