//! Crash reports as JSON.

use crate::time::shown;
use domain::crash_analysis::DumpAnalysis;
use domain::crash_report::{
    ArchivedReport, CrashPart, CrashReport, FoundReport, ListedReport, LogBefore, Os, ReadCallStack,
};
use domain::crash_signature::{ExplainedFrame, Signature};
use domain::inspection::InspectedLogEntry;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A crash report.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReportBody {
    id: String,
    #[schema(format = DateTime)]
    received: String,
    organization: String,
    /// The ApplicationName as sent.
    application: Option<String>,
    application_version: String,
    /// `Windows`, `macOS` or `unknown`.
    os: &'static str,
    user: Option<String>,
    /// The GUID of the computer.
    computer: Option<String>,
    serial_number: String,
    /// What was dropped, and why.
    note: Option<String>,
    /// The id of its group; null while it isn't analyzed, and without a signature.
    group: Option<String>,
    /// Null while it isn't analyzed, and where there is none.
    signature: Option<String>,
    /// Why there is no signature.
    failure: Option<String>,
}

impl ReportBody {
    fn of<P>(
        organization: String,
        report: CrashReport<P>,
        group: Option<String>,
        signature: Option<Result<String, String>>,
    ) -> Self {
        let (signature, failure) = match signature {
            None => (None, None),
            Some(Ok(signature)) => (Some(signature), None),
            Some(Err(failure)) => (None, Some(failure)),
        };
        Self {
            id: report.id.to_string(),
            received: shown(report.received),
            organization,
            os: Os::parse(report.os.as_deref()).as_str(),
            application: report.application_name,
            application_version: report.application_version,
            user: report.user,
            computer: report.computer.map(|computer| computer.to_string()),
            serial_number: report.serial_number,
            note: report.note,
            group,
            signature,
            failure,
        }
    }
}

impl From<ListedReport> for ReportBody {
    fn from(ListedReport { organization, archived }: ListedReport) -> Self {
        let ArchivedReport { report, group, signature, .. } = archived;
        Self::of(organization, report, group.map(|group| group.to_string()), signature)
    }
}

/// A crash report with what is concluded from it.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundReportBody {
    #[serde(flatten)]
    report: ReportBody,
    /// What the signature is made of: `frames`, `system_frames`, `minidump` or `first_line`; null without a call stack.
    basis: Option<&'static str>,
    /// The type of the exception, the signal or the code.
    reason: Option<String>,
    /// The thread that was looked at.
    thread: Option<String>,
    /// Its frames, the innermost first.
    frames: Vec<FrameBody>,
    /// Null without a minidump.
    minidump: Option<DumpBody>,
    parts: Vec<PartBody>,
    /// What the computer logged in the ten minutes before, the newest first, at most 200 entries.
    log_before: Vec<LogBeforeBody>,
}

/// A frame, and what it is in the signature.
#[derive(Serialize, ToSchema)]
pub(crate) struct FrameBody {
    frame: String,
    /// `skipped`, `prefix`, `end` or `rest`.
    role: &'static str,
    /// The rule by which it was skipped or is a prefix.
    rule: Option<&'static str>,
}

/// What a minidump says.
#[derive(Serialize, ToSchema)]
pub(crate) struct DumpBody {
    /// The version of the program that read it.
    reader: String,
    /// Operating system, processor, exception, threads, modules and more; null if it can't be read.
    #[schema(value_type = Option<Object>)]
    facts: Option<Value>,
    /// Why it can't be read.
    failure: Option<String>,
}

impl From<DumpAnalysis> for DumpBody {
    fn from(DumpAnalysis { reader, facts }: DumpAnalysis) -> Self {
        match facts {
            // They are made of texts and numbers only, which always can be written.
            Ok(facts) => Self { reader, facts: serde_json::to_value(&facts).ok(), failure: None },
            Err(failure) => Self { reader, facts: None, failure: Some(failure) },
        }
    }
}

/// A part of a report.
#[derive(Serialize, ToSchema)]
pub(crate) struct PartBody {
    /// Counted from 1, for the path of its content.
    number: usize,
    /// `CallStack`, `Xml`, `dump` or `attachment`.
    role: &'static str,
    name: Option<String>,
    file_name: Option<String>,
    content_type: Option<String>,
    /// Bytes.
    size: u64,
    /// The SHA-1 of the content.
    checksum: String,
}

impl From<(usize, CrashPart)> for PartBody {
    fn from((number, part): (usize, CrashPart)) -> Self {
        Self {
            number,
            role: part.role.as_str(),
            name: part.name,
            file_name: part.file_name,
            content_type: part.content_type,
            size: part.size,
            checksum: part.checksum.to_string(),
        }
    }
}

/// A log entry before a crash report.
#[derive(Serialize, ToSchema)]
pub(crate) struct LogBeforeBody {
    #[schema(format = DateTime)]
    received: String,
    /// `log` or `configuration`.
    log_type: &'static str,
    user: String,
    source: String,
    version: String,
    /// At most 1,000 characters.
    description: String,
}

impl From<InspectedLogEntry> for LogBeforeBody {
    fn from(row: InspectedLogEntry) -> Self {
        Self {
            received: shown(row.received),
            log_type: row.log_type.as_str(),
            user: row.entry.user,
            source: row.entry.source,
            version: row.entry.version,
            description: row.entry.description,
        }
    }
}

impl FoundReportBody {
    pub(crate) fn of(found: FoundReport, log: LogBefore) -> Self {
        let (signature, group, dump) = match found.analyzed {
            None => (None, None, None),
            Some(analyzed) => (Some(analyzed.analysis.signature), analyzed.group, analyzed.analysis.dump),
        };
        let explained: Option<Signature> = found.call_stack.map(|ReadCallStack { signature, .. }| signature);
        let frame = |frame: &ExplainedFrame| FrameBody {
            frame: frame.frame.to_string(),
            role: frame.role.as_str(),
            rule: frame.rule,
        };
        let mut report = found.report;
        let parts = (1..).zip(std::mem::take(&mut report.parts)).map(PartBody::from).collect();
        Self {
            basis: explained.as_ref().map(|explained| explained.basis.as_str()),
            reason: explained.as_ref().and_then(|explained| explained.reason.clone()),
            thread: explained.as_ref().and_then(|explained| explained.thread.clone()),
            frames: explained.iter().flat_map(|explained| &explained.frames).map(frame).collect(),
            minidump: dump.map(DumpBody::from),
            parts,
            log_before: log.entries.into_iter().map(LogBeforeBody::from).collect(),
            report: ReportBody::of(found.organization, report, group.map(|group| group.to_string()), signature),
        }
    }
}
