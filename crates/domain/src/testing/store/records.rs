//! Log entries, crash reports and device statuses in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::crash_report::{CrashReportRepository, NewCrashReport, StoredCrashReport};
use crate::device_status::{DeviceStatus, DeviceStatusRepository};
use crate::error::{StoreError, WriteError};
use crate::guid::{CrashReportId, DeviceGuid};
use crate::inspection::InspectedLogEntry;
use crate::log_entry::{ListedLogEntry, LogFilter, LogNumber, LogRepository, NewLogEntry};
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use std::ops::Deref;

#[async_trait]
impl LogRepository for InMemoryStore {
    async fn add(&self, organization: OrganizationId, entry: NewLogEntry) -> Result<(), StoreError> {
        let mut state = self.working()?;
        state.last_log_number += 1;
        let number = LogNumber(state.last_log_number);
        state.logs.push((organization, LoggedEntry { number, entry }));
        Ok(())
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
        let read = move |state: &State| {
            let own = state.logs.iter().rev().filter(|(owner, _)| *owner == organization).map(inspected);
            let mut matching: Vec<InspectedLogEntry> = own.filter(|entry| entry.matches(&filter)).collect();
            // The sort is stable: ties stay in reverse order of receipt (decision L8).
            matching.sort_by_key(|entry| std::cmp::Reverse(entry.received));
            matching
        };
        self.stream(read, |entry| entry.entry)
    }
}

/// A stored log entry. Its number stays when others are removed.
pub(super) struct LoggedEntry {
    pub(super) number: LogNumber,
    entry: NewLogEntry,
}

impl Deref for LoggedEntry {
    type Target = NewLogEntry;

    fn deref(&self) -> &NewLogEntry {
        &self.entry
    }
}

/// A stored entry as the operator sees it.
pub(super) fn inspected((owner, entry): &(OrganizationId, LoggedEntry)) -> InspectedLogEntry {
    InspectedLogEntry {
        number: entry.number,
        organization: *owner,
        received: entry.received,
        log_type: entry.log_type,
        serial_number: entry.serial_number.clone(),
        computer: entry.computer_guid,
        entry: ListedLogEntry {
            user: entry.user.clone(),
            source: entry.source.clone(),
            version: entry.version.clone(),
            computer: entry.computer.clone(),
            description: entry.description.clone(),
        },
    }
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
