//! Finds out in the background what each crash report is about (decision I7).

mod model;
mod repository;
mod service;

pub use model::{AnalyzedReport, CrashAnalysis, DumpAnalysis, PendingReport, Recorded, Requeue};
pub use repository::CrashAnalysisRepository;
pub use service::{CrashAnalysisService, Progress, read_signature};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashAnalysisRepository;
