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
use crate::log_entry::{LogCursor, LogFilter, LogNumber};
use crate::page::{Page, PageRequest};
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

    /// A page of the log entries of one organization, or of all, that match: in the order of
    /// [`InspectionRepository::log_entries`], after the cursor. A page MAY hold fewer entries than its limit, even none,
    /// where entries are long or few match; `next` is `None` only where no entry follows.
    async fn log_page(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        asked: PageRequest<LogCursor>,
    ) -> Result<Page<InspectedLogEntry, LogCursor>, StoreError>;

    /// Begins to follow the log, of one organization or of all. Each matching entry with a higher number than `after`
    /// MUST be given exactly once, however many are added at once; without `after` each that is added after this has
    /// returned. `after` is the position of a follower, perhaps of another process.
    async fn follow_log(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        after: Option<LogNumber>,
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
    /// Some of what has been stored since, in the order of the numbers; none if there is nothing new. An entry MAY be
    /// held back while another one is written whose number may be lower. After an error the follower goes on where it was.
    async fn next(&mut self) -> Result<Vec<InspectedLogEntry>, StoreError>;

    /// The number up to which every matching entry was given. No entry with this or a lower number will be added.
    fn position(&self) -> LogNumber;
}
