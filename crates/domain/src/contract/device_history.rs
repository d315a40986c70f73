//! [`crate::device_history::DeviceHistoryRepository`]: decision I1.

use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::device_history::{DeviceSample, Period, SAMPLE_EVERY, StateChange};
use crate::device_status::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use crate::testing::{a_status, acme_records, at, numbered};
use crate::timestamp::Timestamp;
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;

/// Up to the year 2096.
const ALL: Period = Period { from: Timestamp::EPOCH, to: Timestamp::from_micros(4_000_000_000_000_000) };

fn device() -> DeviceGuid {
    acme_records().device
}

fn sent(seconds: i64, status: Status) -> DeviceStatus {
    DeviceStatus { received: at(seconds), status, ..a_status(device()) }
}

async fn put(stores: &Stores, organization: OrganizationId, statuses: &[DeviceStatus]) -> Result<(), StoreError> {
    for status in statuses {
        stores.device_statuses.put(organization, status.clone()).await?;
    }
    Ok(())
}

async fn changes(
    stores: &Stores,
    organization: OrganizationId,
    period: Period,
) -> Result<Vec<StateChange>, StoreError> {
    stores.device_history.changes(organization, device(), period).try_collect().await
}

async fn samples(
    stores: &Stores,
    organization: OrganizationId,
    period: Period,
) -> Result<Vec<DeviceSample>, StoreError> {
    stores.device_history.samples(organization, device(), period, u32::MAX).try_collect().await
}

/// With Status, ConnectionState and both messages.
pub async fn a_change_of_state_is_kept_with_its_messages(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let online = DeviceStatus {
        message: Some("Order 17 🖨".to_owned()),
        connection_state: Some(ConnectionState::Online),
        connection_message: Some(String::new()),
        ..sent(0, Status::Printing)
    };
    let unstable = DeviceStatus {
        received: at(10),
        connection_state: Some(ConnectionState::Unstable),
        connection_message: Some("2 of 5 PINGs lost".to_owned()),
        ..online.clone()
    };
    let error = DeviceStatus { received: at(20), status: Status::Error, connection_state: None, ..unstable.clone() };
    let all = [online, unstable, error];
    put(stores, acme, &all).await?;
    assert_eq!(changes(stores, acme, ALL).await?, all.each_ref().map(StateChange::of));
    Ok(())
}

/// Other members of a status are no state; the time of the change stays.
pub async fn an_equal_state_is_no_change(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let first = sent(0, Status::Idle);
    let other = DeviceStatus {
        message: Some("other".to_owned()),
        temperature: Some(20.0),
        queue_length: QueueLength::Sheets(3),
        ..sent(10, Status::Idle)
    };
    put(stores, acme, &[first.clone(), other, sent(20, Status::Idle)]).await?;
    assert_eq!(changes(stores, acme, ALL).await?, [StateChange::of(&first)]);
    Ok(())
}

/// It is the last change before, however long ago.
pub async fn the_state_at_the_beginning_of_a_period_is_known(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let [idle, error, printing] = [(0, Status::Idle), (86_400, Status::Error), (90_000, Status::Printing)]
        .map(|(seconds, status)| DeviceStatus { message: Some(seconds.to_string()), ..sent(seconds, status) });
    put(stores, acme, &[idle.clone(), sent(43_200, Status::Idle), error.clone(), printing.clone()]).await?;
    let between = async |from, to| changes(stores, acme, Period { from: at(from), to: at(to) }).await;
    let [idle, error, printing] = [&idle, &error, &printing].map(StateChange::of);
    assert_eq!(between(80_000, 89_999).await?, [idle.clone(), error.clone()]);
    assert_eq!(between(86_400, 90_000).await?, [idle.clone(), error, printing.clone()]);
    assert_eq!(between(90_001, 99_999).await?, [printing]);
    assert_eq!(between(-10, -1).await?, []);
    // Where the change itself was removed, a sample still has the state.
    stores.retention.prune_device_history(at(43_200), None, 100).await?;
    let known = StateChange { at: at(43_200), message: None, ..idle };
    assert_eq!(between(80_000, 80_001).await?, [known]);
    Ok(())
}

/// Inks, temperature and queue; a change of state asks for none.
pub async fn measured_values_are_kept_once_in_an_interval(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let every = i64::try_from(SAMPLE_EVERY.as_secs())?;
    let measured = |seconds: i64| DeviceStatus {
        status: if seconds % 2 == 0 { Status::Idle } else { Status::Printing },
        temperature: Some(0.1),
        remaining_inks: vec![RemainingInk { index: 2.0, name: "Cyan".to_owned(), level: 0.3, max_level: 775.0 }],
        queue_length: QueueLength::Area(1.5),
        ..sent(seconds, Status::Idle)
    };
    let all = [0, 1, every - 1, every, 2 * every - 1, 2 * every + 1, 3 * every].map(measured);
    put(stores, acme, &all).await?;
    let expected = [&all[0], &all[3], &all[5]].map(DeviceSample::of);
    assert_eq!(samples(stores, acme, ALL).await?, expected);
    let within = Period { from: at(every), to: at(2 * every) };
    assert_eq!(samples(stores, acme, within).await?, expected[1..2]);
    Ok(())
}

/// A clock that ran ahead by a day.
pub async fn a_clock_that_was_set_back_does_not_stop_the_samples(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let all = [86_400, 0, 10, 300].map(|seconds| sent(seconds, Status::Idle));
    put(stores, acme, &all).await?;
    let times: Vec<_> = samples(stores, acme, ALL).await?.into_iter().map(|sample| sample.at).collect();
    assert_eq!(times, [at(0), at(300), at(86_400)]);
    Ok(())
}

/// Interface 5, rule 3: of this device and this organization.
pub async fn only_the_history_of_the_device_is_read(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.device_statuses.put(acme, a_status(DeviceGuid::from(numbered(1)))).await?;
    put(stores, zenith, &[sent(0, Status::Error)]).await?;
    assert_eq!((changes(stores, acme, ALL).await?, samples(stores, acme, ALL).await?), (Vec::new(), Vec::new()));
    put(stores, acme, &[sent(1, Status::Idle)]).await?;
    assert_eq!(changes(stores, acme, ALL).await?, [StateChange::of(&sent(1, Status::Idle))]);
    assert_eq!(samples(stores, zenith, ALL).await?, [DeviceSample::of(&sent(0, Status::Error))]);
    Ok(())
}

/// Statuses that arrive together are committed together.
pub async fn the_history_of_many_devices_at_once_is_whole(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let status = |number: u128, seconds, status| DeviceStatus {
        device: DeviceGuid::from(numbered(number)),
        ..sent(seconds, status)
    };
    for (seconds, word) in [(0, Status::Idle), (2, Status::Printing), (4, Status::Printing), (6, Status::Error)] {
        let puts = (0..300).map(|number| {
            let owner = if number % 3 == 0 { zenith } else { acme };
            stores.device_statuses.put(owner, status(number, seconds, word))
        });
        try_join_all(puts).await?;
    }
    for number in 0..300 {
        let owner = if number % 3 == 0 { zenith } else { acme };
        let device = DeviceGuid::from(numbered(number));
        let changes: Vec<_> = stores.device_history.changes(owner, device, ALL).try_collect().await?;
        let kinds: Vec<_> = changes.iter().map(|change| (change.at, change.status)).collect();
        assert_eq!(kinds, [(at(0), Status::Idle), (at(2), Status::Printing), (at(6), Status::Error)]);
        let samples: Vec<_> = stores.device_history.samples(owner, device, ALL, 10).try_collect().await?;
        assert_eq!(samples.len(), 1);
    }
    Ok(())
}

/// The first of each part of the period.
pub async fn a_year_of_samples_is_thinned_and_in_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for day in 0..366 {
        put(stores, acme, &[sent(day * 86_400, Status::Idle)]).await?;
    }
    let year = Period { from: at(0), to: at(365 * 86_400) };
    let all: Vec<_> = samples(stores, acme, year).await?.into_iter().map(|sample| sample.at).collect();
    assert_eq!(all, (0..366).map(|day| at(day * 86_400)).collect::<Vec<_>>());
    let few: Vec<_> = stores.device_history.samples(acme, device(), year, 10).try_collect().await?;
    assert!(few.len() == 10 && few[0].at == at(0), "{few:?}");
    assert!(few.iter().zip(few.iter().skip(1)).all(|(one, next)| one.at < next.at), "{few:?}");
    Ok(())
}

/// More than a page holds.
pub async fn thousands_of_changes_are_listed_in_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let word = |number: i64| if number % 2 == 0 { Status::Idle } else { Status::Printing };
    for number in 0..2_000 {
        put(stores, acme, &[sent(2 * number, word(number))]).await?;
    }
    let all = changes(stores, acme, Period { from: at(1), to: at(3_998) }).await?;
    assert_eq!(all.len(), 2_000);
    for (number, change) in (0..).zip(&all) {
        assert_eq!((change.at, change.status), (at(2 * number), word(number)));
    }
    Ok(())
}

/// Two statuses of the very same time: the later one is the state.
pub async fn statuses_of_one_time_are_one_record(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    put(stores, acme, &[sent(0, Status::Idle), sent(0, Status::Error), sent(0, Status::Error)]).await?;
    let last = changes(stores, acme, ALL).await?.pop();
    assert_eq!(last, Some(StateChange::of(&sent(0, Status::Error))));
    Ok(())
}
