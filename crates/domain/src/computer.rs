//! Computers as operators see them: the user of each, its last request and its timeline.

mod model;
mod repository;
mod service;

pub use model::{ComputerCursor, ComputerFilter, ComputerRecord, FoundComputer, ListedComputer};
pub use repository::ComputerRepository;
pub use service::{ComputerService, ComputerSources, MAX_GROUPS, MAX_OUTDATED, MAX_REFUSALS};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockComputerRepository;
