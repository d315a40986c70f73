//! The port to the resources of all organizations. It only reads.

use super::{CatalogCursor, CatalogEntry, CatalogFilter, ResourceUse};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ResourceGuid;
use crate::page::{Page, PageRequest};
use async_trait::async_trait;

/// Lists of resources for operators. [`crate::resource::ResourceRepository`] finds single ones.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait ResourceCatalog: Send + Sync + 'static {
    /// The resources that match, in the order of [`CatalogCursor`], those after `asked.after`. While resources come and
    /// go, one that is there all the while and keeps its name MUST be on exactly one page. Where a name is searched for,
    /// a page may have fewer items than asked for although another follows: it ends when many resources have been
    /// looked at.
    async fn page(
        &self,
        filter: &CatalogFilter,
        asked: &PageRequest<CatalogCursor>,
    ) -> Result<Page<CatalogEntry, CatalogCursor>, StoreError>;

    /// The queues, then the jobs, of the organization that use the resource and aren't removed, each by GUID; at most
    /// `limit`.
    async fn uses(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        limit: u64,
    ) -> Result<Vec<ResourceUse>, StoreError>;
}
