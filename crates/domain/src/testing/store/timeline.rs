//! Timelines in memory.

use super::{InMemoryStore, State};
use crate::activity::Holder;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::{ComputerGuid, DeviceGuid};
use crate::log_entry::NewLogEntry;
use crate::text::cut;
use crate::timeline::{EventId, Subject, TimelineCursor, TimelineDetails, TimelineEvent, TimelineRepository};
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::cmp::Reverse;

#[async_trait]
impl TimelineRepository for InMemoryStore {
    async fn page(
        &self,
        organization: OrganizationId,
        subject: Subject,
        before: Option<TimelineCursor>,
        limit: u32,
    ) -> Result<Vec<TimelineEvent>, StoreError> {
        let state = self.working()?;
        let mut events = match subject {
            Subject::Computer(computer) => of_computer(&state, organization, computer),
            Subject::Device(device) => of_device(&state, organization, device),
        };
        events.retain(|event| before.is_none_or(|before| event.cursor < before));
        events.sort_by_key(|event| Reverse(event.cursor));
        events.truncate(limit as usize);
        Ok(events)
    }
}

fn event(at: Timestamp, id: EventId, details: TimelineDetails) -> TimelineEvent {
    TimelineEvent { cursor: TimelineCursor { at, id }, details }
}

fn of_computer(state: &State, organization: OrganizationId, guid: ComputerGuid) -> Vec<TimelineEvent> {
    if state.fleet.computers.get(&guid).is_none_or(|computer| computer.organization != organization) {
        return Vec::new();
    }
    let mut events = logged(state, organization, |entry| entry.computer_guid == guid);
    let reports = state.crash_reports.iter();
    let reports = reports.filter(|(owner, report)| *owner == organization && report.computer == Some(guid));
    events.extend(reports.map(|(_, report)| {
        let details = TimelineDetails::CrashReport {
            application_name: report.application_name.clone(),
            application_version: report.application_version.clone(),
        };
        event(report.received, EventId::CrashReport(report.id), details)
    }));
    events.extend(state.refusals.of_computer(guid).map(|(number, refusal)| {
        let (operation, reason) = (refusal.operation.clone(), refusal.reason.clone());
        let details = TimelineDetails::Refusal { operation, reason, detail: refusal.detail.clone() };
        event(refusal.at, EventId::Refusal(*number), details)
    }));
    let fetches = state.activity.fetches.iter();
    let fetches = fetches.filter(|((holder, _), _)| *holder == Holder::Computer(organization, guid));
    events.extend(fetches.map(|((_, resource), (_, fetch))| {
        let stored = state.visible_resource(organization, *resource);
        let name = stored.map(|stored| stored.meta.name.clone());
        event(fetch.at, EventId::Fetch(*resource), TimelineDetails::Fetch { name, checksum: fetch.checksum })
    }));
    events
}

fn of_device(state: &State, organization: OrganizationId, guid: DeviceGuid) -> Vec<TimelineEvent> {
    if state.fleet.devices.get(&guid).is_none_or(|device| device.organization != organization) {
        return Vec::new();
    }
    let mut events = logged(state, organization, |entry| entry.device_guid == Some(guid));
    events.extend(
        state
            .changes_of(organization, guid)
            .into_iter()
            .map(|change| event(change.at, EventId::StateChange, TimelineDetails::StateChange(change))),
    );
    events
}

fn logged(state: &State, organization: OrganizationId, is_wanted: impl Fn(&NewLogEntry) -> bool) -> Vec<TimelineEvent> {
    let own = state.logs.iter().filter(|(owner, entry)| *owner == organization && is_wanted(entry));
    let logged = own.map(|(_, entry)| {
        let details = TimelineDetails::LogEntry {
            log_type: entry.log_type,
            description: cut(&entry.description, TimelineDetails::MAX_TEXT),
            user: entry.user.clone(),
            source: entry.source.clone(),
            version: entry.version.clone(),
        };
        event(entry.received, EventId::LogEntry(entry.number.0), details)
    });
    logged.collect()
}
