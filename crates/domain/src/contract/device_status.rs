//! [`crate::device_status::DeviceStatusRepository`].

use super::scene::{TEXTS, two_organizations};
use super::{Kept, Stores};
use crate::device_status::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
use crate::guid::DeviceGuid;
use crate::testing::{a_status, acme_records, at, numbered};
use crate::timestamp::Timestamp;
use futures_util::future::try_join_all;

/// Interface 2.8.
pub async fn a_status_is_found_as_it_was_put(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.device_statuses.put(acme, full()).await?;
    assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(full()));
    Ok(())
}

/// Decision D5: what the new status omits is gone.
pub async fn a_status_replaces_the_former_one_whole(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.device_statuses.put(acme, full()).await?;
    let bare = DeviceStatus { received: at(60), ..a_status(device()) };
    stores.device_statuses.put(acme, bare.clone()).await?;
    assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(bare));
    Ok(())
}

/// Decision D5: also where nothing but the time of receipt is new.
pub async fn an_equal_status_renews_the_time_of_receipt(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.device_statuses.put(acme, full()).await?;
    let received = Timestamp::from_micros(full().received.as_micros() + 1);
    stores.device_statuses.put(acme, DeviceStatus { received, ..full() }).await?;
    let found = stores.device_statuses.find(acme, device()).await?;
    assert_eq!(found.map(|status| status.received), Some(received));
    Ok(())
}

/// Interface 5, rule 3.
pub async fn only_the_own_status_is_found(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.device_statuses.put(acme, full()).await?;
    assert_eq!(stores.device_statuses.find(zenith, device()).await?, None);
    assert_eq!(stores.device_statuses.find(acme, DeviceGuid::from(numbered(1))).await?, None);
    Ok(())
}

/// Each device has a status of its own.
pub async fn devices_keep_their_own_status(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let status = |number: u32| DeviceStatus {
        temperature: Some(number.into()),
        ..a_status(DeviceGuid::from(numbered(number.into())))
    };
    try_join_all((0..200).map(|number| stores.device_statuses.put(acme, status(number)))).await?;
    for number in 0..200 {
        assert_eq!(stores.device_statuses.find(acme, status(number).device).await?, Some(status(number)));
    }
    Ok(())
}

/// Interface 2.8: every value of the fixed words and of the queue's measure.
pub async fn every_word_and_measure_is_kept(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let lengths = [QueueLength::Length(12.5), QueueLength::Area(0.1), QueueLength::Sheets(7)];
    let states = ConnectionState::ALL.iter().copied().map(Some).chain([None]);
    let states = states.collect::<Vec<_>>().into_iter().cycle();
    let rounds = Status::ALL.iter().copied().zip(states).zip(lengths.into_iter().cycle());
    for (second, ((status, connection_state), queue_length)) in (0..).zip(rounds) {
        let put = DeviceStatus { received: at(second), status, connection_state, queue_length, ..a_status(device()) };
        stores.device_statuses.put(acme, put.clone()).await?;
        assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(put));
    }
    Ok(())
}

/// Numbers are kept exactly, whatever their magnitude.
pub async fn numbers_are_kept_exactly(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let numbers = [0.0, 0.1, -0.1, 1.0, 1e300, 5e-324, -1.797e308, 123_456_789.123_456_78, f64::EPSILON];
    for (second, number) in (0..).zip(numbers) {
        let ink = RemainingInk { index: number, name: "K".to_owned(), level: number, max_level: number };
        let put = DeviceStatus {
            received: at(second),
            temperature: Some(number),
            remaining_inks: vec![ink],
            queue_length: QueueLength::Area(number.abs()),
            ..a_status(device())
        };
        stores.device_statuses.put(acme, put.clone()).await?;
        assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(put));
    }
    for (second, sheets) in (100..).zip([0, (1 << 53) + 1, i64::MAX.unsigned_abs(), u64::MAX]) {
        let put =
            DeviceStatus { received: at(second), queue_length: QueueLength::Sheets(sheets), ..a_status(device()) };
        stores.device_statuses.put(acme, put.clone()).await?;
        assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(put));
    }
    Ok(())
}

/// Decision R9: texts are kept byte for byte; an empty one is not the same as none.
pub async fn texts_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = "ä\"🖨".repeat(150_000);
    for (second, text) in (0..).zip(TEXTS.iter().copied().chain(["", long.as_str()])) {
        let ink = |index| RemainingInk { index, name: text.to_owned(), level: -1.0, max_level: 2.0 };
        let put = DeviceStatus {
            received: at(second),
            message: Some(text.to_owned()),
            connection_message: Some(text.to_owned()),
            remaining_inks: vec![ink(1.0), ink(0.0)],
            ..a_status(device())
        };
        stores.device_statuses.put(acme, put.clone()).await?;
        let found = stores.device_statuses.find(acme, device()).await?;
        assert!(found == Some(put), "changed: {:?}", crate::text::cut(text, 40));
    }
    Ok(())
}

/// Inks keep their order, however many they are.
pub async fn very_many_inks_keep_their_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let ink = |number: u32| RemainingInk {
        index: (number % 7).into(),
        name: format!("Ink {number}"),
        level: number.into(),
        max_level: 1_000.0,
    };
    let put = DeviceStatus { remaining_inks: (0..5_000).map(ink).collect(), ..a_status(device()) };
    stores.device_statuses.put(acme, put.clone()).await?;
    assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(put));
    Ok(())
}

/// Decision D5: of concurrent calls the last received wins, whole.
pub async fn of_concurrent_calls_the_last_wins(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let status = |number: u32| DeviceStatus {
        received: at(number.into()),
        message: Some(number.to_string()),
        temperature: Some(number.into()),
        queue_length: QueueLength::Sheets(number.into()),
        ..a_status(device())
    };
    try_join_all((1..=100).map(|number| stores.device_statuses.put(acme, status(number)))).await?;
    assert_eq!(stores.device_statuses.find(acme, device()).await?, Some(status(100)));
    Ok(())
}

fn device() -> DeviceGuid {
    acme_records().device
}

fn full() -> DeviceStatus {
    let ink = |index, name: &str| RemainingInk { index, name: name.to_owned(), level: 12.5, max_level: 775.0 };
    DeviceStatus {
        device: device(),
        received: Timestamp::from_micros(at(5).as_micros() + 123_456),
        status: Status::Printing,
        message: Some("Order 17".to_owned()),
        temperature: Some(41.5),
        connection_state: Some(ConnectionState::Unstable),
        connection_message: Some("2 of 5 PINGs lost".to_owned()),
        remaining_inks: vec![ink(1.0, "Cyan"), ink(0.0, "Black")],
        queue_length: QueueLength::Length(3.25),
    }
}
