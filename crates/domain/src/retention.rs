//! How long records are kept, where the operator has set a bound, and the removal of what is older.

mod model;
mod repository;
mod service;

pub use model::{RemovalCursor, RemovalOutcome, RetainedRecords, RetentionPolicy};
pub use repository::RetentionRepository;
pub use service::{RetentionService, Round};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockRetentionRepository;
