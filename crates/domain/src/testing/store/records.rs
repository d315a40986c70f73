//! Log entries, crash reports and device statuses in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::crash_report::{CrashReportRepository, NewCrashReport, StoredCrashReport};
use crate::device_status::{DeviceStatus, DeviceStatusRepository};
use crate::error::{StoreError, WriteError};
use crate::guid::{CrashReportId, DeviceGuid};
use crate::log_entry::{ListedLogEntry, LogFilter, LogRepository, NewLogEntry, Pattern};
use crate::text::Folded;
use async_trait::async_trait;
use futures_util::stream::BoxStream;

#[async_trait]
impl LogRepository for InMemoryStore {
    async fn add(&self, organization: OrganizationId, entry: NewLogEntry) -> Result<(), StoreError> {
        self.working()?.logs.push((organization, entry));
        Ok(())
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
        let read = move |state: &State| {
            let matching =
                state.logs.iter().rev().filter(|(owner, entry)| *owner == organization && matches(&filter, entry));
            let mut matching: Vec<NewLogEntry> = matching.map(|(_, entry)| entry.clone()).collect();
            // The sort is stable: ties stay in reverse order of receipt (decision L8).
            matching.sort_by_key(|entry| std::cmp::Reverse(entry.received));
            matching
        };
        self.stream(read, |entry| ListedLogEntry {
            user: entry.user,
            source: entry.source,
            version: entry.version,
            computer: entry.computer,
            description: entry.description,
        })
    }
}

pub(super) fn matches(filter: &LogFilter, entry: &NewLogEntry) -> bool {
    let text = |pattern: &Option<Pattern>, value: &str| {
        pattern.as_ref().is_none_or(|pattern| pattern.matches(&Folded::of(value)))
    };
    text(&filter.serial_number, &entry.serial_number)
        && text(&filter.user, &entry.user)
        && text(&filter.source, &entry.source)
        && text(&filter.version, &entry.version)
        && text(&filter.computer, &entry.computer)
        && filter.computer_guid.is_none_or(|computer| computer == entry.computer_guid)
        && filter.from.is_none_or(|from| from <= entry.received)
        && filter.to.is_none_or(|to| entry.received <= to)
        && filter.log_type.is_none_or(|log_type| log_type == entry.log_type)
}

#[async_trait]
impl CrashReportRepository for InMemoryStore {
    async fn add(&self, organization: OrganizationId, report: NewCrashReport) -> Result<(), WriteError> {
        let mut state = self.working().map_err(WriteError::NotStored)?;
        state.crash_groups.wait(report.id, report.received);
        state.crash_reports.push((organization, report));
        Ok(())
    }

    async fn find(
        &self,
        organization: OrganizationId,
        id: CrashReportId,
    ) -> Result<Option<StoredCrashReport>, StoreError> {
        let state = self.working()?;
        let found = state.crash_reports.iter().find(|(owner, report)| *owner == organization && report.id == id);
        Ok(found.map(|(_, report)| report.clone()))
    }
}

#[async_trait]
impl DeviceStatusRepository for InMemoryStore {
    async fn put(&self, organization: OrganizationId, status: DeviceStatus) -> Result<(), StoreError> {
        let mut state = self.working()?;
        state.keep_history(organization, &status);
        state.statuses.insert((organization, status.device), status);
        Ok(())
    }

    async fn find(&self, organization: OrganizationId, device: DeviceGuid) -> Result<Option<DeviceStatus>, StoreError> {
        Ok(self.working()?.statuses.get(&(organization, device)).cloned())
    }
}
