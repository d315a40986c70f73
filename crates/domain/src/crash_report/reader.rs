//! The use cases of operators on crash reports.

#[cfg(test)]
mod tests;

use super::archive::{ArchivedReport, CrashReportArchive, ReportCursor, ReportFilter};
use super::{CrashPart, PartRole, StoredCrashReport};
use crate::blob::{BlobStore, ByteStream};
use crate::call_stack::{MAX_TEXT, decode};
use crate::caller::OrganizationId;
use crate::crash_analysis::{AnalyzedReport, CrashAnalysisRepository};
use crate::crash_signature::{Signature, sign_text};
use crate::error::StoreError;
use crate::guid::CrashReportId;
use crate::inspection::{InspectedLogEntry, InspectionRepository};
use crate::log_entry::LogFilter;
use crate::minidump::DumpFacts;
use crate::operator::{Actor, OperatorError, OrganizationList};
use crate::page::{Page, PageRequest};
use crate::text::cut;
use futures_util::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::time::Duration;

/// Log entries of a report's computer are shown from this long before the report.
pub const LOG_BEFORE: Duration = Duration::from_mins(10);

/// Limit for the log entries that are shown with a report.
pub const MAX_LOG_ENTRIES: usize = 200;

/// Characters of a log entry's description that are shown with a report; the rest is cut off.
const MAX_DESCRIPTION: usize = 1000;

/// The ports that [`CrashReportReader`] reads.
#[derive(Clone)]
pub struct ReportSources {
    pub archive: Arc<dyn CrashReportArchive>,
    pub analyses: Arc<dyn CrashAnalysisRepository>,
    pub inspection: Arc<dyn InspectionRepository>,
    pub blobs: Arc<dyn BlobStore>,
}

/// Crash reports, their analyses and contents as an operator sees them (decisions I4, I6, I7, P8).
pub struct CrashReportReader {
    sources: ReportSources,
    organizations: Arc<OrganizationList>,
}

/// A report in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedReport {
    /// The name of its organization.
    pub organization: String,
    pub archived: ArchivedReport,
}

/// A report with its analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundReport {
    /// The name of its organization.
    pub organization: String,
    pub organization_id: OrganizationId,
    pub report: StoredCrashReport,
    /// `None` until the report is analyzed.
    pub analyzed: Option<AnalyzedReport>,
    /// `None` if the report has no call stack, or its content is missing.
    pub call_stack: Option<ReadCallStack>,
}

/// A call stack as text, with its signature and marked frames by the present rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadCallStack {
    pub text: PartText,
    pub signature: Signature,
}

/// A part as text. The encoding is guessed from its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartText {
    pub text: String,
    /// Whether only the first [`MAX_TEXT`] bytes were read.
    pub is_cut: bool,
}

/// The log entries of a computer before its crash report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogBefore {
    /// The newest first, descriptions cut.
    pub entries: Vec<InspectedLogEntry>,
    /// Whether there were more than [`MAX_LOG_ENTRIES`].
    pub is_cut: bool,
}

impl CrashReportReader {
    #[must_use]
    pub fn new(sources: ReportSources, organizations: Arc<OrganizationList>) -> Self {
        Self { sources, organizations }
    }

    /// Lists the reports that match, the newest first, of the named organization or of all that the actor sees.
    ///
    /// # Errors
    /// An organization that the actor doesn't see, or a store failure.
    pub async fn list(
        &self,
        actor: &Actor,
        organization: Option<&str>,
        filter: &ReportFilter,
        asked: PageRequest<ReportCursor>,
    ) -> Result<Page<ListedReport, ReportCursor>, OperatorError> {
        let organization = self.organizations.narrow(actor, organization).await?;
        let rows = self.sources.archive.page(organization, filter, asked.after, asked.rows()).await?;
        let names = self.organizations.names().await?;
        let page = asked.page(rows, ArchivedReport::cursor);
        let listed = |archived: ArchivedReport| ListedReport {
            organization: names.get(&archived.organization).cloned().unwrap_or_default(),
            archived,
        };
        Ok(Page { items: page.items.into_iter().map(listed).collect(), next: page.next })
    }

    /// Finds a report with its signature, frames and minidump.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] also for a report of an organization that the actor doesn't see, or a store failure.
    pub async fn find(&self, actor: &Actor, id: CrashReportId) -> Result<FoundReport, OperatorError> {
        let (organization_id, report) = self.require(actor, id).await?;
        let analyzed = self.sources.analyses.find(&[id]).await?.pop();
        let dump = analyzed.as_ref().and_then(|analyzed| analyzed.analysis.dump.as_ref());
        let frame = dump.and_then(|dump| dump.facts.as_ref().ok()).map(DumpFacts::signed_frame);
        let text = self.text(&report, PartRole::CallStack).await?;
        let call_stack = match text {
            None => None,
            Some(PartText { text, is_cut }) => {
                let (text, signature) = sign_text(text, frame).await?;
                Some(ReadCallStack { text: PartText { text, is_cut }, signature })
            }
        };
        let organization = self.organizations.names().await?.remove(&organization_id).unwrap_or_default();
        Ok(FoundReport { organization, organization_id, report, analyzed, call_stack })
    }

    /// Opens a part of a report by its number in the body, from 1: the part, and its content as it was sent.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] also for a report of an organization that the actor doesn't see, or a store failure.
    pub async fn part(
        &self,
        actor: &Actor,
        id: CrashReportId,
        number: usize,
    ) -> Result<(CrashPart, ByteStream), OperatorError> {
        let (_, mut report) = self.require(actor, id).await?;
        let missing = || OperatorError::NotFound(format!("part {number} of crash report {id}"));
        let index = number.checked_sub(1).filter(|index| *index < report.parts.len()).ok_or_else(missing)?;
        let part = report.parts.swap_remove(index);
        let content = self.sources.blobs.read(&part.key, None).await?.ok_or_else(missing)?;
        Ok((part, content))
    }

    /// Reads the first part with this role as text; `None` if there is none, or its content is missing.
    ///
    /// # Errors
    /// A store failure.
    pub async fn text(&self, report: &StoredCrashReport, role: PartRole) -> Result<Option<PartText>, StoreError> {
        let Some(part) = report.parts.iter().find(|part| part.role == role) else {
            return Ok(None);
        };
        let Some(mut content) = self.sources.blobs.read(&part.key, None).await? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let mut is_cut = false;
        while let Some(chunk) = content.try_next().await? {
            let rest = MAX_TEXT - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(rest)]);
            if chunk.len() > rest {
                is_cut = true;
                break;
            }
        }
        Ok(Some(PartText { text: decode(&bytes), is_cut }))
    }

    /// The log entries of the report's computer in the [`LOG_BEFORE`] before the receipt of the report; none without a
    /// computer.
    ///
    /// # Errors
    /// A store failure.
    pub async fn log_before(&self, found: &FoundReport) -> Result<LogBefore, StoreError> {
        let Some(computer) = found.report.computer else {
            return Ok(LogBefore::default());
        };
        let filter = LogFilter {
            computer_guid: Some(computer),
            from: Some(found.report.received.minus(LOG_BEFORE)),
            to: Some(found.report.received),
            ..LogFilter::default()
        };
        let rows = self.sources.inspection.log_entries(vec![found.organization_id], filter);
        let mut entries: Vec<InspectedLogEntry> = rows
            .take(MAX_LOG_ENTRIES + 1)
            .map_ok(|mut row| {
                row.entry.description = cut(&row.entry.description, MAX_DESCRIPTION);
                row
            })
            .try_collect()
            .await?;
        let is_cut = entries.len() > MAX_LOG_ENTRIES;
        entries.truncate(MAX_LOG_ENTRIES);
        Ok(LogBefore { entries, is_cut })
    }

    async fn require(
        &self,
        actor: &Actor,
        id: CrashReportId,
    ) -> Result<(OrganizationId, StoredCrashReport), OperatorError> {
        let found = self.sources.archive.find(actor.scope.organization(), id).await?;
        found.ok_or_else(|| OperatorError::NotFound(format!("crash report {id}")))
    }
}
