//! Crash reports (interface 2.7 and 4.8).

mod blank;
mod model;
mod places;
mod repository;
mod service;

pub use model::{CrashPart, CrashReport, NewCrashReport, Os, PartRole, StoredCrashReport};
pub use repository::CrashReportRepository;
pub use service::{AcceptedReport, CrashHeaders, CrashReportService};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashReportRepository;
