//! Resources as operators see them: lists over all organizations, one resource with what uses it, who has which content,
//! and what its content is (decisions I9 and I11).

mod holders;
mod model;
mod repository;
mod service;

pub use holders::{HolderCounts, HolderCursor, HolderFilter, HolderPage, ResourceHolder};
pub use model::{
    CatalogCursor, CatalogEntry, CatalogFilter, CatalogQuery, CatalogSearch, FoundResource, ImageKind, ListedResource,
    ResourceUse, UseKind,
};
pub use repository::ResourceCatalog;
pub use service::ResourceCatalogService;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockResourceCatalog;
