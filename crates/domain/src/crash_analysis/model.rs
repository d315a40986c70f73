//! Reports that wait for their analysis, and analyses.

use crate::caller::OrganizationId;
use crate::crash_group::CrashGroupId;
use crate::crash_report::StoredCrashReport;
use crate::guid::CrashReportId;
use crate::minidump::DumpFacts;
use crate::timestamp::Timestamp;

/// A report that a process has taken to analyze.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingReport {
    pub organization: OrganizationId,
    pub report: StoredCrashReport,
    /// How many times the report was taken, this time included.
    pub attempts: u32,
}

/// The result of the analysis of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashAnalysis {
    pub report: CrashReportId,
    /// The version of the rules ([`crate::crash_signature::ALGORITHM`]).
    pub algorithm: u32,
    /// The signature, or a sentence about why there is none.
    pub signature: Result<String, String>,
    /// `None` without a minidump.
    pub dump: Option<DumpAnalysis>,
    pub analyzed: Timestamp,
}

/// The result of the analysis of a minidump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpAnalysis {
    /// The version of the reader ([`crate::minidump::DumpReader::version`]).
    pub reader: String,
    /// The facts, or a sentence about why there are none.
    pub facts: Result<DumpFacts, String>,
}

/// An analysis as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyzedReport {
    pub analysis: CrashAnalysis,
    /// `None` without a signature.
    pub group: Option<CrashGroupId>,
}

/// The outcome of storing an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// The analysis is stored, and the report is counted in its group.
    Stored,
    /// Another process stored an analysis first, or the report is removed. Nothing was changed.
    Obsolete,
}

/// Selects the reports that are analyzed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requeue {
    /// Reports whose analysis failed or used a version of the rules before this one.
    Older {
        than: u32,
    },
    All,
}
