//! The port to the stored crash reports.

use super::{NewCrashReport, StoredCrashReport};
use crate::caller::OrganizationId;
use crate::error::{StoreError, WriteError};
use crate::guid::CrashReportId;
use async_trait::async_trait;

/// The crash reports of all organizations.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait CrashReportRepository: Send + Sync + 'static {
    /// Stores a report with all its parts in one step. When this returns, they MUST be durable
    /// (decision C4). The report MUST be stored even if the caller goes away meanwhile. [`WriteError::NotStored`] MUST be
    /// returned only if the report can't be stored any more.
    async fn add(&self, organization: OrganizationId, report: NewCrashReport) -> Result<(), WriteError>;

    /// The organization's report, its parts in the order of the body.
    async fn find(
        &self,
        organization: OrganizationId,
        id: CrashReportId,
    ) -> Result<Option<StoredCrashReport>, StoreError>;
}
