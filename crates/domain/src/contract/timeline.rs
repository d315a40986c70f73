//! [`crate::timeline::TimelineRepository`]: decision I12.

use super::scene::{register, two_organizations};
use super::{Kept, Stores};
use crate::activity::{Fetch, Holder, ResourceKey};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::crash_report::NewCrashReport;
use crate::device_history::StateChange;
use crate::device_status::{DeviceStatus, Status};
use crate::error::StoreError;
use crate::fleet::{Computer, Device, FleetOrganization};
use crate::guid::{ComputerGuid, DeviceGuid};
use crate::log_entry::NewLogEntry;
use crate::refusal::{NewRefusal, Owner};
use crate::testing::{
    ACME, a_crash_report, a_log_entry, a_refusal, a_resource, a_status, acme_records, at, numbered, resource_guid,
};
use crate::timeline::{EventId, Subject, TimelineDetails, TimelineEvent};

fn computer() -> Subject {
    Subject::Computer(acme_records().computer)
}

fn device() -> Subject {
    Subject::Device(acme_records().device)
}

/// An entry of the computer for the device.
fn entry(seconds: i64, description: &str) -> NewLogEntry {
    NewLogEntry {
        received: at(seconds),
        computer_guid: acme_records().computer,
        device_guid: Some(acme_records().device),
        ..a_log_entry(description)
    }
}

fn status(seconds: i64, status: Status) -> DeviceStatus {
    DeviceStatus { received: at(seconds), status, ..a_status(acme_records().device) }
}

async fn fill(stores: &Stores, acme: OrganizationId) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let computer = acme_records().computer;
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    stores.logs.add(acme, entry(1, "first")).await?;
    let report = NewCrashReport { received: at(2), computer: Some(computer), ..a_crash_report(1) };
    stores.crash_reports.add(acme, report).await?;
    let refusal = NewRefusal { at: at(3), computer: Some(computer), ..a_refusal(Owner::Organization(acme)) };
    stores.refusals.add(&[refusal]).await?;
    for (number, seconds) in [(1, 4), (2, 5)] {
        let key = ResourceKey { organization: acme, guid: resource_guid(number) };
        let fetch = Fetch { checksum: Sha1Checksum::of(b"content"), at: at(seconds) };
        stores.activity.store_fetches(&[((Holder::Computer(acme, computer), key), fetch)]).await?;
    }
    for status in [status(2, Status::Idle), status(4, Status::Idle), status(6, Status::Error)] {
        stores.device_statuses.put(acme, status).await?;
    }
    stores.logs.add(acme, entry(7, &"ä".repeat(600))).await?;
    Ok(())
}

async fn all(stores: &Stores, acme: OrganizationId, subject: Subject) -> Result<Vec<TimelineEvent>, StoreError> {
    stores.timeline.page(acme, subject, None, 1_000).await
}

/// Newest first.
pub async fn all_kinds_of_events_are_in_one_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    fill(stores, acme).await?;
    let events = all(stores, acme, computer()).await?;
    let kinds: Vec<_> = events.iter().map(|event| (event.cursor.at, event.details.kind())).collect();
    let expected = [(7, "log"), (5, "fetch"), (4, "fetch"), (3, "refusal"), (2, "crash"), (1, "log")];
    assert_eq!(kinds, expected.map(|(seconds, kind)| (at(seconds), kind)));
    let TimelineDetails::LogEntry { description, user, source, .. } = &events[0].details else { panic!("{events:?}") };
    assert_eq!((description.as_str(), user.as_str(), source.as_str()), ("ä".repeat(500).as_str(), "Ann", "Latex 1"));
    let fetched = |name: Option<&str>| TimelineDetails::Fetch {
        name: name.map(str::to_owned),
        checksum: Sha1Checksum::of(b"content"),
    };
    assert_eq!((&events[1].details, &events[2].details), (&fetched(None), &fetched(Some("Resource 1"))));
    let crash = TimelineDetails::CrashReport {
        application_name: Some("Rip".to_owned()),
        application_version: "9.0".to_owned(),
    };
    assert_eq!((&events[4].details, events[4].cursor.id), (&crash, EventId::CrashReport(numbered(1).into())));

    let events = all(stores, acme, device()).await?;
    let kinds: Vec<_> = events.iter().map(|event| (event.cursor.at, event.details.kind())).collect();
    let expected = [(7, "log"), (6, "status"), (2, "status"), (1, "log")];
    assert_eq!(kinds, expected.map(|(seconds, kind)| (at(seconds), kind)));
    let error = TimelineDetails::StateChange(StateChange::of(&status(6, Status::Error)));
    assert_eq!(events[1].details, error);
    Ok(())
}

/// Even if events of all kinds have the same time, and while new events arrive.
pub async fn pages_follow_each_other_by_cursor(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    fill(stores, acme).await?;
    let own = acme_records().computer;
    for number in 2..6 {
        stores.logs.add(acme, entry(3, "same time")).await?;
        let report = NewCrashReport { received: at(3), computer: Some(own), ..a_crash_report(number) };
        stores.crash_reports.add(acme, report).await?;
        let refusal = NewRefusal { at: at(3), computer: Some(own), ..a_refusal(Owner::Organization(acme)) };
        stores.refusals.add(&[refusal]).await?;
        let key = ResourceKey { organization: acme, guid: resource_guid(number + 10) };
        let fetch = Fetch { checksum: Sha1Checksum::of(b"content"), at: at(3) };
        stores.activity.store_fetches(&[((Holder::Computer(acme, own), key), fetch)]).await?;
        stores
            .device_statuses
            .put(acme, status(100 * i64::try_from(number)?, Status::ALL[usize::try_from(number)?]))
            .await?;
    }
    for subject in [computer(), device()] {
        let whole = all(stores, acme, subject).await?;
        assert!(whole.is_sorted_by(|one, next| one.cursor > next.cursor), "{whole:?}");
        for limit in [1, 2, 3, 7] {
            let (mut pages, mut before) = (Vec::new(), None);
            loop {
                let page = stores.timeline.page(acme, subject, before, limit).await?;
                let Some(last) = page.last() else { break };
                assert!(page.len() <= limit as usize);
                before = Some(last.cursor);
                pages.extend(page);
                stores.logs.add(acme, entry(1_000, "newer")).await?;
            }
            let known = pages.iter().filter(|event| event.cursor.at < at(1_000)).cloned().collect::<Vec<_>>();
            assert!(known == whole.iter().filter(|event| event.cursor.at < at(1_000)).cloned().collect::<Vec<_>>());
        }
    }
    Ok(())
}

/// Interface 5, rule 3: no events of another organization, computer or device.
pub async fn only_the_events_of_the_subject_are_listed(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    fill(stores, acme).await?;
    // Another organization may send the GUIDs of Acme; it sees no events of Acme.
    stores.logs.add(zenith, entry(3, "of Zenith")).await?;
    let report = NewCrashReport { computer: Some(acme_records().computer), ..a_crash_report(8) };
    stores.crash_reports.add(zenith, report).await?;
    stores.device_statuses.put(zenith, status(3, Status::Error)).await?;
    let before = (all(stores, acme, computer()).await?.len(), all(stores, acme, device()).await?.len());
    assert_eq!(before.1, 4, "the statuses of Zenith are not those of Acme");
    assert_eq!(all(stores, zenith, computer()).await?, [], "it is a computer of Acme");
    assert_eq!(all(stores, zenith, device()).await?, []);
    let other = ComputerGuid::from(numbered(77));
    stores.logs.add(acme, NewLogEntry { computer_guid: other, device_guid: None, ..entry(9, "other") }).await?;
    let report = NewCrashReport { computer: Some(other), ..a_crash_report(9) };
    stores.crash_reports.add(acme, report).await?;
    let after = (all(stores, acme, computer()).await?.len(), all(stores, acme, device()).await?.len());
    assert_eq!(after, before);
    let unknown = Subject::Device(DeviceGuid::from(numbered(1)));
    assert_eq!(all(stores, acme, unknown).await?, []);
    Ok(())
}

/// Decision I12: entries keep the names of their receipt (ADR 16).
pub async fn a_renamed_computer_and_device_keep_their_log_entries(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let rename = async |computer: &str, device: &str| {
        let fleet = FleetOrganization {
            name: ACME.to_owned(),
            computers: vec![Computer {
                guid: acme_records().computer,
                name: Some(computer.to_owned()),
                serial_number: None,
                hardware_hash: None,
                user: None,
            }],
            devices: vec![Device { guid: acme_records().device, name: Some(device.to_owned()) }],
            ..FleetOrganization::default()
        };
        register(stores, fleet).await
    };
    let names =
        [("RIP-01", "Latex 1"), ("RIP-02", "Latex 2"), ("rip-02", "LATEX 2"), ("RIP-03", "L"), ("RIP-01", "Latex 1")];
    for (seconds, (computer, source)) in (1..).zip(names) {
        rename(computer, source).await?;
        let entry = entry(seconds, computer);
        stores
            .logs
            .add(acme, NewLogEntry { computer: computer.to_owned(), source: source.to_owned(), ..entry })
            .await?;
    }
    rename("Other", "Other").await?;
    for subject in [computer(), device()] {
        let events = all(stores, acme, subject).await?;
        let times: Vec<_> = events.iter().map(|event| event.cursor.at).collect();
        assert_eq!(times, [5, 4, 3, 2, 1].map(at), "{subject:?}");
        let page = stores.timeline.page(acme, subject, Some(events[1].cursor), 2).await?;
        assert_eq!(page, events[2..4]);
    }
    Ok(())
}
