//! Reports that wait for their analysis, and what came of it.

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
    /// How often it was taken, this time included.
    pub attempts: u32,
}

/// What is known of a report.
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

/// What is known of the minidump of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpAnalysis {
    /// The version of the program that read it.
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

/// What became of an analysis that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// It is stored, and the report counted in its group.
    Stored,
    /// Another process was faster, or the report is removed; nothing was done.
    Obsolete,
}

/// Which reports are analyzed anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requeue {
    /// Those whose analysis is of an older version of the rules than this one, or failed.
    Older {
        than: u32,
    },
    All,
}
