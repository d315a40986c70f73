//! Crash reports (interface 2.7 and 4.8).

mod blank;
mod command;
mod model;
mod repository;
mod roles;
mod service;

pub use command::AddCrashReport;
pub use model::{CrashPart, CrashReport, NewCrashReport, Os, PartRole, StoredCrashReport};
pub use repository::CrashReportRepository;
pub use service::{AcceptedReport, CrashReportService};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashReportRepository;
