//! Resources: colour profiles, labels, templates (interface parts 2.1–2.4 and 4.1–4.6).

mod add;
mod command;
mod meta;
mod model;
mod repository;
mod service;

pub use meta::{Meta, PmmKey};
pub use model::{Domain, ListFilter, NewResource, ResourceListItem, ResourceType, StoredContent, StoredResource};
pub use repository::{DeleteOutcome, ResourceRepository, StoreOutcome};
pub use service::{ParseJson, ResourceService};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockResourceRepository;
