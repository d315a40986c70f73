//! The port to the crash reports of all organizations, for people. It only reads.

use super::{CrashReport, StoredCrashReport};
use crate::caller::OrganizationId;
use crate::crash_group::CrashGroupId;
use crate::error::StoreError;
use crate::guid::{ComputerGuid, CrashReportId, parse_guid};
use crate::inspection::PartsTotal;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::fmt;

/// Which reports to list: all that fit every condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportFilter {
    pub group: Option<CrashGroupId>,
    pub computer: Option<ComputerGuid>,
    /// Exactly this ApplicationVersion.
    pub version: Option<String>,
    /// Time of receipt, inclusive.
    pub from: Option<Timestamp>,
    /// Time of receipt, inclusive.
    pub to: Option<Timestamp>,
}

/// A report in a list, without its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedReport {
    pub organization: OrganizationId,
    pub report: CrashReport<PartsTotal>,
    /// `None` while it isn't analyzed, and without a signature.
    pub group: Option<CrashGroupId>,
    /// The signature, or a sentence about why there is none; `None` while it isn't analyzed.
    pub signature: Option<Result<String, String>>,
}

impl ArchivedReport {
    /// Where a list goes on after this report.
    #[must_use]
    pub fn cursor(&self) -> ReportCursor {
        ReportCursor { received: self.report.received, id: self.report.id }
    }
}

/// Where a list goes on: after the report that was received at this time and has this id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReportCursor {
    pub received: Timestamp,
    pub id: CrashReportId,
}

impl ReportCursor {
    /// Reads what `Display` writes; `None` for anything else.
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

/// The stored crash reports, for people.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashReportArchive: Send + Sync + 'static {
    /// The reports of an organization, or of all of them (`None`), that match: newest first, of one time the higher id, at
    /// most `limit`, those after `after`.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ReportFilter,
        after: Option<ReportCursor>,
        limit: u64,
    ) -> Result<Vec<ArchivedReport>, StoreError>;

    /// The report of this id, its parts in the order of the body, and whose it is; of this organization only, if one is
    /// given.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError>;
}
