//! The port to what is stored of all organizations. It only reads.

use super::{
    CrashReportFilter, DeviceCount, InspectedComputer, InspectedCrashReport, InspectedDevice, InspectedLogEntry,
    RegisteredOrganization,
};
use crate::caller::OrganizationId;
use crate::crash_report::StoredCrashReport;
use crate::device_status::Status;
use crate::error::StoreError;
use crate::guid::{CrashReportId, ResourceGuid};
use crate::log_entry::LogFilter;
use crate::resource::StoredResource;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use futures_util::stream::BoxStream;

/// What is stored, for the operator. No method changes anything.
///
/// Memory MUST NOT grow with the length of a list, and no connection may be held while its reader is slow.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait InspectionRepository: Send + Sync + 'static {
    /// All organizations, or the one of exactly this name if there is one, sorted by name.
    async fn organizations(&self, name: Option<String>) -> Result<Vec<RegisteredOrganization>, StoreError>;

    /// The devices of an organization with their last status, sorted by name, then GUID. Where `statuses` names
    /// any, only devices whose last status is one of them.
    fn devices(
        &self,
        organization: OrganizationId,
        statuses: Vec<Status>,
    ) -> BoxStream<'static, Result<InspectedDevice, StoreError>>;

    /// Counts the devices of all organizations by organization and last status. A device whose last status was received
    /// before `silent_before` is silent.
    async fn count_devices(&self, silent_before: Timestamp) -> Result<Vec<DeviceCount>, StoreError>;

    /// The computers of an organization, sorted by name, then GUID, each with what it sent last.
    fn computers(&self, organization: OrganizationId) -> BoxStream<'static, Result<InspectedComputer, StoreError>>;

    /// The log entries of these organizations that match, together in one order: newest first, ties in reverse order
    /// of receipt (decision L8).
    fn log_entries(
        &self,
        organizations: Vec<OrganizationId>,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<InspectedLogEntry, StoreError>>;

    /// Begins to follow the log, of one organization or of all: each matching entry that is added after this has
    /// returned MUST be given exactly once, however many are added at once.
    async fn follow_log(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
    ) -> Result<Box<dyn LogFollower>, StoreError>;

    /// The crash reports of these organizations that match, together in one order: newest first, of one time the
    /// higher id.
    fn crash_reports(
        &self,
        organizations: Vec<OrganizationId>,
        filter: CrashReportFilter,
    ) -> BoxStream<'static, Result<InspectedCrashReport, StoreError>>;

    /// The crash report of this id, its parts in the order of the body, and whose it is.
    async fn find_crash_report(
        &self,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError>;

    /// The resources of this GUID, one of each organization that has it, by the number of the organization.
    async fn find_resources(&self, guid: ResourceGuid) -> Result<Vec<StoredResource>, StoreError>;
}

/// A reader that follows the log.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait LogFollower: Send {
    /// Some of what has been stored since; none if there is nothing new. The entries of one call are in the order of
    /// receipt, and so are those of following calls but where they were added at the same time.
    async fn next(&mut self) -> Result<Vec<InspectedLogEntry>, StoreError>;
}
