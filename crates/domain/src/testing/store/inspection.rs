//! Lists of records for operators in memory.

use super::records::inspected;
use super::{InMemoryStore, State};
use crate::activity::Sender;
use crate::caller::OrganizationId;
use crate::crash_report::StoredCrashReport;
use crate::device_status::Status;
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::guid::{ComputerGuid, CrashReportId, ResourceGuid};
use crate::inspection::{
    CrashReportFilter, DeviceCount, InspectedComputer, InspectedCrashReport, InspectedDevice, InspectedLogEntry,
    InspectionRepository, LastSeen, LogFollower, PartsTotal, RegisteredOrganization,
};
use crate::log_entry::{LogCursor, LogFilter, LogNumber};
use crate::page::{Page, PageRequest};
use crate::resource::StoredResource;
use crate::text::Folded;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use std::cmp::Reverse;
use std::collections::HashMap;

#[async_trait]
impl InspectionRepository for InMemoryStore {
    async fn organizations(&self, name: Option<String>) -> Result<Vec<RegisteredOrganization>, StoreError> {
        let state = self.working()?;
        let asked_for = state
            .fleet
            .organizations
            .iter()
            .filter(|(_, organization)| name.as_ref().is_none_or(|name| organization.name == *name));
        let mut found: Vec<RegisteredOrganization> = asked_for
            .map(|(id, organization)| RegisteredOrganization { id: *id, name: organization.name.clone() })
            .collect();
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    fn devices(
        &self,
        organization: OrganizationId,
        statuses: Vec<Status>,
    ) -> BoxStream<'static, Result<InspectedDevice, StoreError>> {
        let read = move |state: &State| {
            let own = state.fleet.devices.iter().filter(|(_, device)| device.organization == organization);
            let own = own.filter(|(guid, _)| !state.fleet.is_retired(organization, FleetRecord::Device(**guid)));
            let mut devices: Vec<InspectedDevice> = own
                .map(|(guid, device)| InspectedDevice {
                    guid: *guid,
                    name: device.name.clone(),
                    status: state.statuses.get(&(organization, *guid)).cloned(),
                })
                .filter(|device| {
                    let is_named = |status| device.status.as_ref().is_some_and(|found| found.status == status);
                    statuses.is_empty() || statuses.iter().copied().any(is_named)
                })
                .collect();
            devices.sort_by(|one, other| (&one.name, one.guid).cmp(&(&other.name, other.guid)));
            devices
        };
        self.stream(read, |device| device)
    }

    async fn count_devices(&self, silent_before: Timestamp) -> Result<Vec<DeviceCount>, StoreError> {
        let state = self.working()?;
        let fleet = &state.fleet;
        let mut counts: HashMap<_, DeviceCount> = HashMap::new();
        for (guid, device) in &fleet.devices {
            let id = device.organization;
            if fleet.is_retired(id, FleetRecord::Device(*guid)) {
                continue;
            }
            let last = state.statuses.get(&(id, *guid));
            let status = last.map(|last| last.status);
            let none = DeviceCount { organization: fleet.organization_name(id), status, devices: 0, silent: 0 };
            let count = counts.entry((id, status)).or_insert(none);
            count.devices += 1;
            count.silent += u64::from(last.is_some_and(|last| last.received < silent_before));
        }
        Ok(counts.into_values().collect())
    }

    fn computers(&self, organization: OrganizationId) -> BoxStream<'static, Result<InspectedComputer, StoreError>> {
        let read = move |state: &State| {
            let own = state.fleet.computers.iter().filter(|(_, computer)| computer.organization == organization);
            let mut computers: Vec<InspectedComputer> = own
                .map(|(guid, computer)| InspectedComputer {
                    guid: *guid,
                    name: computer.name.clone(),
                    serial_number: computer.serial_number.clone(),
                    user: computer.user.clone(),
                    is_retired: state.fleet.is_retired(organization, FleetRecord::Computer(*guid)),
                    last_request: state.activity.requests.get(&Sender::Computer(organization, *guid)).cloned(),
                    last_log_entry: last_log_entry(state, organization, *guid, &computer.name),
                    last_crash_report: last_crash_report(state, organization, *guid),
                })
                .collect();
            computers.sort_by(|one, other| (&one.name, one.guid).cmp(&(&other.name, other.guid)));
            computers
        };
        self.stream(read, |computer| computer)
    }

    fn log_entries(
        &self,
        organizations: Vec<OrganizationId>,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<InspectedLogEntry, StoreError>> {
        let read = move |state: &State| {
            let of_them = state.logs.iter().rev().filter(|(owner, _)| organizations.contains(owner));
            let mut entries: Vec<InspectedLogEntry> =
                of_them.map(inspected).filter(|entry| entry.matches(&filter)).collect();
            // The sort is stable: ties stay in reverse order of receipt (decision L8).
            entries.sort_by_key(|entry| Reverse(entry.received));
            entries
        };
        self.stream(read, |entry| entry)
    }

    async fn log_page(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        asked: PageRequest<LogCursor>,
    ) -> Result<Page<InspectedLogEntry, LogCursor>, StoreError> {
        let state = self.working()?;
        let of_them = state.logs.iter().filter(|(owner, _)| organization.is_none_or(|asked| asked == *owner));
        let mut entries: Vec<InspectedLogEntry> = of_them
            .map(inspected)
            .filter(|entry| entry.matches(&filter) && asked.after.is_none_or(|after| entry.cursor() < after))
            .collect();
        entries.sort_by_key(|entry| Reverse(entry.cursor()));
        Ok(asked.page(entries, InspectedLogEntry::cursor))
    }

    async fn follow_log(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        after: Option<LogNumber>,
    ) -> Result<Box<dyn LogFollower>, StoreError> {
        let last = LogNumber(self.working()?.last_log_number);
        let position = after.map_or(last, |after| after.min(last));
        Ok(Box::new(Follower { store: self.clone(), organization, filter, position }))
    }

    fn crash_reports(
        &self,
        organizations: Vec<OrganizationId>,
        filter: CrashReportFilter,
    ) -> BoxStream<'static, Result<InspectedCrashReport, StoreError>> {
        let read = move |state: &State| {
            let fits = |report: &StoredCrashReport| {
                filter.from.is_none_or(|from| from <= report.received)
                    && filter.to.is_none_or(|to| report.received <= to)
                    && filter.computer.is_none_or(|computer| report.computer == Some(computer))
            };
            let of_them = state.crash_reports.iter().filter(|(owner, _)| organizations.contains(owner));
            let mut reports: Vec<InspectedCrashReport> =
                of_them.filter(|(_, report)| fits(report)).map(|(owner, report)| summary(*owner, report)).collect();
            reports.sort_by_key(|report| Reverse((report.report.received, report.report.id)));
            reports
        };
        self.stream(read, |report| report)
    }

    async fn find_crash_report(
        &self,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError> {
        Ok(self.working()?.crash_reports.iter().find(|(_, report)| report.id == id).cloned())
    }

    async fn find_resources(&self, guid: ResourceGuid) -> Result<Vec<StoredResource>, StoreError> {
        let state = self.working()?;
        Ok(state.resources.values().filter(|resource| resource.guid == guid).cloned().collect())
    }
}

fn last_log_entry(state: &State, organization: OrganizationId, guid: ComputerGuid, name: &str) -> Option<LastSeen> {
    let own = state.logs.iter().filter(|(owner, entry)| {
        *owner == organization && entry.computer_guid == guid && Folded::of(&entry.computer) == Folded::of(name)
    });
    let seen =
        own.map(|(_, entry)| LastSeen { at: entry.received, application_version: entry.application_version.clone() });
    seen.max_by_key(|seen| seen.at)
}

fn last_crash_report(state: &State, organization: OrganizationId, guid: ComputerGuid) -> Option<LastSeen> {
    let own = state.crash_reports.iter();
    let own = own.filter(|(owner, report)| *owner == organization && report.computer == Some(guid));
    let seen = own
        .map(|(_, report)| LastSeen { at: report.received, application_version: report.application_version.clone() });
    seen.max_by_key(|seen| seen.at)
}

struct Follower {
    store: InMemoryStore,
    organization: Option<OrganizationId>,
    filter: LogFilter,
    position: LogNumber,
}

#[async_trait]
impl LogFollower for Follower {
    async fn next(&mut self) -> Result<Vec<InspectedLogEntry>, StoreError> {
        let state = self.store.working()?;
        let new = state.logs.iter().filter(|(_, entry)| entry.number > self.position);
        let of_them = new.filter(|(owner, _)| self.organization.is_none_or(|organization| organization == *owner));
        let entries = of_them.map(inspected).filter(|entry| entry.matches(&self.filter)).collect();
        self.position = LogNumber(state.last_log_number);
        Ok(entries)
    }

    fn position(&self) -> LogNumber {
        self.position
    }
}

fn summary(organization: OrganizationId, report: &StoredCrashReport) -> InspectedCrashReport {
    let size = report.parts.iter().map(|part| part.size).sum();
    let parts = PartsTotal { count: report.parts.len() as u64, size };
    InspectedCrashReport { organization, report: report.clone().with_parts(parts) }
}
