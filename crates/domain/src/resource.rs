//! Resources: colour profiles, labels, templates (interface parts 2.1–2.4 and 4.1–4.6).

mod command;
mod json_value;
mod meta;
mod model;
mod preconditions;
mod repository;
mod service;
mod upload;

pub use command::{StoreResource, StoreResourceInput};
pub use meta::{MetaMember, MetaText};
pub use model::{
    Domain, ListFilter, Meta, NewResource, PmmKey, ResourceListItem, ResourceType, StoredContent, StoredResource,
};
pub use preconditions::{OtherState, Preconditions};
pub use repository::{DeleteOutcome, ResourceRepository, StoreOutcome};
pub use service::ResourceService;
pub use upload::ReadDescription;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockResourceRepository;
