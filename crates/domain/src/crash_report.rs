//! Crash reports (interface 2.7 and 4.8).

mod model;
mod repository;

pub use model::{CrashPart, NewCrashReport, Os, Place, StoredCrashReport};
pub use repository::CrashReportRepository;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashReportRepository;
