//! Crash reports (interface 2.7 and 4.8).

mod archive;
mod blank;
mod command;
mod file_name;
mod model;
mod reader;
mod repository;
mod roles;
mod service;

pub use archive::{ArchivedReport, CrashReportArchive, ReportCursor, ReportFilter};
pub use command::AddCrashReport;
pub use file_name::file_name;
pub use model::{CrashPart, CrashReport, NewCrashReport, Os, PartRole, StoredCrashReport};
pub use reader::{
    CrashReportReader, FoundReport, LOG_BEFORE, ListedReport, LogBefore, MAX_LOG_ENTRIES, PartText, ReadCallStack,
    ReportSources,
};
pub use repository::CrashReportRepository;
pub use service::{AcceptedReport, CrashReportService};

#[cfg(any(test, feature = "test-support"))]
pub use {archive::MockCrashReportArchive, repository::MockCrashReportRepository};
