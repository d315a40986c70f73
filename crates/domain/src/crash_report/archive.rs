//! The port to the crash reports of all organizations, for operators. It only reads.

use super::{CrashReport, StoredCrashReport};
use crate::caller::OrganizationId;
use crate::crash_group::CrashGroupId;
use crate::error::StoreError;
use crate::guid::{ComputerGuid, CrashReportId, parse_guid};
use crate::inspection::PartsTotal;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::fmt;

/// Conditions of a list of reports; a report must meet all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportFilter {
    pub group: Option<CrashGroupId>,
    pub computer: Option<ComputerGuid>,
    /// The whole ApplicationVersion, with case.
    pub version: Option<String>,
    /// The report was received at this time or later.
    pub from: Option<Timestamp>,
    /// The report was received at this time or earlier.
    pub to: Option<Timestamp>,
}

/// A report in a list, without its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedReport {
    pub organization: OrganizationId,
    pub report: CrashReport<PartsTotal>,
    /// `None` until the report is analyzed, and for a report without a signature.
    pub group: Option<CrashGroupId>,
    /// The signature, or a sentence about why there is none; `None` until the report is analyzed.
    pub signature: Option<Result<String, String>>,
}

impl ArchivedReport {
    /// The cursor of the page after this report.
    #[must_use]
    pub fn cursor(&self) -> ReportCursor {
        ReportCursor { received: self.report.received, id: self.report.id }
    }
}

/// A cursor: the next page begins after the report with this time of receipt and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReportCursor {
    pub received: Timestamp,
    pub id: CrashReportId,
}

impl ReportCursor {
    /// Parses the text that `Display` writes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (received, id) = text.split_once('.')?;
        let received = Timestamp::from_micros(received.parse().ok()?);
        Some(Self { received, id: CrashReportId::from(parse_guid(id)?) })
    }
}

impl fmt::Display for ReportCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.received.as_micros(), self.id)
    }
}

/// Reads the stored crash reports, for operators.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashReportArchive: Send + Sync + 'static {
    /// At most `limit` reports after `after` that match `filter`, of one organization or of all (`None`): newest first,
    /// of equal times the higher id first.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ReportFilter,
        after: Option<ReportCursor>,
        limit: u64,
    ) -> Result<Vec<ArchivedReport>, StoreError>;

    /// The report with this id in this organization, or in any (`None`), and its organization. The parts are in the
    /// order of the body.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError>;
}
