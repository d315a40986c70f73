//! The background analysis of crash reports: signature, group and facts of the minidump (decision I7).

mod model;
mod repository;
mod service;

pub use model::{AnalyzedReport, CrashAnalysis, DumpAnalysis, PendingReport, Recorded, Requeue};
pub use repository::CrashAnalysisRepository;
pub use service::{CrashAnalysisService, Progress, read_signature};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashAnalysisRepository;
