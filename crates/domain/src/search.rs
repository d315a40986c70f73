//! The search for records by GUID, SerialNumber, name or request id.

mod model;
mod repository;
mod service;

pub use model::{GuidRange, Hit, SearchQuery, Thing};
pub use repository::SearchRepository;
pub use service::{FoundThing, MAX_HITS, SearchService};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockSearchRepository;
