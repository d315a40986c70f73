//! The use cases of operators on resources.

#[cfg(test)]
mod tests;

use super::{
    CatalogCursor, CatalogEntry, CatalogQuery, FoundResource, HolderCursor, HolderFilter, HolderPage, ImageKind,
    ListedResource, ResourceCatalog, ResourceHolder, ResourceUse,
};
use crate::activity::{ActivityRepository, ResourceKey};
use crate::blob::{BlobStore, ByteStream};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ResourceGuid;
use crate::icc::{ProfileFacts, ProfileReader, ProfileSource, UnreadProfile, is_profile};
use crate::inspection::InspectionRepository;
use crate::operator::{Actor, OperatorError, OrganizationList};
use crate::page::{Page, PageRequest};
use crate::resource::ResourceRepository;
use crate::text::is_blank;
use futures_util::{StreamExt, TryStreamExt};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes from the beginning of a content that say what it is.
const HEAD: u64 = 128;

/// The ports to resources and to what is known of them.
pub struct ResourceCatalogService {
    pub catalog: Arc<dyn ResourceCatalog>,
    pub resources: Arc<dyn ResourceRepository>,
    pub activity: Arc<dyn ActivityRepository>,
    pub inspection: Arc<dyn InspectionRepository>,
    pub blobs: Arc<dyn BlobStore>,
    pub profiles: Arc<dyn ProfileReader>,
}

impl ResourceCatalogService {
    /// The resources that the operator sees and that match.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for an organization that the operator doesn't see, [`OperatorError::Invalid`] for a
    /// filter that can't be used, and store failures.
    pub async fn list(
        &self,
        actor: &Actor,
        query: &CatalogQuery,
        asked: &PageRequest<CatalogCursor>,
    ) -> Result<Page<ListedResource, CatalogCursor>, OperatorError> {
        let filter = query.filter(self.narrow(actor, query.organization.as_deref()).await?)?;
        let page = self.catalog.page(&filter, asked).await?;
        let organizations = self.inspection.organizations(None).await?;
        let names: HashMap<OrganizationId, String> = organizations.into_iter().map(|one| (one.id, one.name)).collect();
        let listed = |entry: CatalogEntry| ListedResource {
            organization: names.get(&entry.organization).cloned().unwrap_or_default(),
            entry,
        };
        Ok(Page { items: page.items.into_iter().map(listed).collect(), next: page.next })
    }

    /// The resource of the organization of this name.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`], also where the operator doesn't see the organization (decision P8), or a store
    /// failure.
    pub async fn find(&self, actor: &Actor, organization: &str, guid: &str) -> Result<FoundResource, OperatorError> {
        let unknown = || OperatorError::NotFound(format!("resource \"{guid}\" of organization \"{organization}\""));
        // A malformed GUID is not found (decision R7).
        let guid = ResourceGuid::parse(guid).ok_or_else(unknown)?;
        let id = self.narrow(actor, Some(organization)).await?.ok_or_else(unknown)?;
        let resource = self.resources.find(id, guid).await?.ok_or_else(unknown)?;
        Ok(FoundResource { organization: organization.to_owned(), resource })
    }

    /// The content, or the bytes `range` of it, which lie within.
    ///
    /// # Errors
    /// A store failure.
    pub async fn content(&self, found: &FoundResource, range: Option<Range<u64>>) -> Result<ByteStream, StoreError> {
        let key = &found.resource.content.key;
        let content = self.blobs.read(key, range).await?;
        content.ok_or_else(|| StoreError::Corrupt { what: "the content of a resource", id: key.to_string() })
    }

    /// The queues, then the jobs, that use the resource, at most `limit`.
    ///
    /// # Errors
    /// A store failure.
    pub async fn uses(&self, found: &FoundResource, limit: u64) -> Result<Vec<ResourceUse>, StoreError> {
        self.catalog.uses(found.resource.organization, found.resource.guid, limit).await
    }

    /// Who has which content of the resource: the computers of an organization, then its users at computers that aren't
    /// registered (decision I9).
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for an organization that the operator doesn't see, or a store failure.
    pub async fn holders(
        &self,
        actor: &Actor,
        found: &FoundResource,
        filter: &HolderFilter,
        asked: &PageRequest<HolderCursor>,
    ) -> Result<HolderPage, OperatorError> {
        let named = filter.organization.as_deref().filter(|name| !is_blank(name));
        let of_holders = match named {
            Some(name) => self.narrow(actor, Some(name)).await?,
            None => None,
        };
        let resource = &found.resource;
        let of_holders = of_holders.unwrap_or(resource.organization);
        let key = ResourceKey { organization: resource.organization, guid: resource.guid };
        let stored = resource.checksum;
        let computers = self.activity.computers_of_resource(of_holders, key);
        let computers = computers.map_ok(move |found| ResourceHolder::of_computer(found, stored));
        let users = self.activity.users_of_resource(of_holders, key);
        let users = users.map_ok(move |found| ResourceHolder::of_user(found, stored));
        Ok(HolderPage::collect(computers.chain(users), filter.state, asked).await?)
    }

    /// What the content says if it is a colour profile (decision I11).
    ///
    /// # Errors
    /// A store failure; that a profile can't be read is [`UnreadProfile`].
    pub async fn profile(
        &self,
        found: &FoundResource,
    ) -> Result<Option<Result<ProfileFacts, UnreadProfile>>, StoreError> {
        if !is_profile(&self.head(found).await?) {
            return Ok(None);
        }
        let source = ProfileSource { content: self.content(found, None).await?, size: found.resource.content.size };
        Ok(Some(self.profiles.read(source).await))
    }

    /// Which picture the content is, if a browser may show it.
    ///
    /// # Errors
    /// A store failure.
    pub async fn image(&self, found: &FoundResource) -> Result<Option<ImageKind>, StoreError> {
        Ok(ImageKind::of(&self.head(found).await?))
    }

    /// The first bytes of the content.
    async fn head(&self, found: &FoundResource) -> Result<Vec<u8>, StoreError> {
        let size = found.resource.content.size.min(HEAD);
        if size == 0 {
            return Ok(Vec::new());
        }
        let chunks = self.content(found, Some(0..size)).await?;
        chunks.try_fold(Vec::new(), async |head, chunk| Ok([head, chunk.to_vec()].concat())).await
    }

    /// The organization that is named, else the operator's own; `None` for all.
    async fn narrow(&self, actor: &Actor, name: Option<&str>) -> Result<Option<OrganizationId>, OperatorError> {
        let name = name.filter(|name| !is_blank(name));
        OrganizationList::new(Arc::clone(&self.inspection)).narrow(actor, name).await
    }
}
