//! [`crate::device_board::DeviceBoardRepository`].

use super::scene::{TEXTS, organizations, register, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::device_board::{
    Attention, BoardDevice, DeviceCursor, DeviceFilter, DeviceForecast, DeviceSort, DeviceTally, Moment,
};
use crate::device_history::InkForecast;
use crate::device_status::{DeviceStatus, RemainingInk, SILENT_AFTER, Status};
use crate::error::StoreError;
use crate::fleet::{Device, FleetOrganization, FleetRecord};
use crate::guid::DeviceGuid;
use crate::inspection::RegisteredOrganization;
use crate::page::PageRequest;
use crate::testing::{ACME, a_status, acme_records, at, numbered, zenith_records};
use futures_util::future::try_join_all;
use std::error::Error;

const NOW: i64 = 10_000;

fn moment() -> Moment {
    Moment::new(at(NOW), SILENT_AFTER)
}

fn guid(number: u128) -> DeviceGuid {
    DeviceGuid::from(numbered(number))
}

fn ink(level: f64) -> RemainingInk {
    RemainingInk { index: 1.0, name: "Cyan".to_owned(), level, max_level: 100.0 }
}

/// Devices `Device 0` to `Device 7`: error, offline, silent error, low ink, soon empty, fine, never seen, retired.
async fn a_board(stores: &Stores) -> Result<OrganizationId, Box<dyn Error + Send + Sync>> {
    let acme = organizations(stores, &[false]).await?[0];
    let devices = (0..8).map(|number| Device { guid: guid(number), name: Some(format!("Device {number}")) }).collect();
    register(stores, FleetOrganization { name: "Organization 0".to_owned(), devices, ..FleetOrganization::default() })
        .await?;
    for (number, status, second, level) in [
        (0, Status::Error, NOW, 5.0),
        (1, Status::Offline, NOW, 50.0),
        (2, Status::Error, NOW - 901, 50.0),
        (3, Status::Printing, NOW - 900, 9.9),
        (4, Status::Idle, NOW, 50.0),
        (5, Status::Idle, NOW, 10.0),
        (7, Status::Error, NOW, 50.0),
    ] {
        let received = at(second);
        let status = DeviceStatus { status, received, remaining_inks: vec![ink(level)], ..a_status(guid(number)) };
        stores.device_statuses.put(acme, status).await?;
    }
    stores.device_board.store_forecasts(&[a_forecast(acme, 4, 2), a_forecast(acme, 5, 3)]).await?;
    stores.records.set_retired("Organization 0", &FleetRecord::Device(guid(7)), Some(at(NOW))).await?;
    Ok(acme)
}

/// A forecast: the cyan of a device is empty in some days.
fn a_forecast(organization: OrganizationId, number: u128, days: i64) -> DeviceForecast {
    let empties_at = at(NOW + days * 86_400);
    let cyan = InkForecast { index: 1.0, name: "Cyan".to_owned(), per_day: 12.5, empties_at };
    DeviceForecast { organization, device: guid(number), at: at(NOW), inks: vec![cyan] }
}

async fn listed(stores: &Stores, filter: &DeviceFilter, sort: DeviceSort) -> Result<Vec<BoardDevice>, StoreError> {
    let asked = PageRequest { after: None, limit: 5_000 };
    Ok(stores.device_board.page(filter, sort, moment(), &asked).await?.items)
}

async fn names(stores: &Stores, filter: DeviceFilter) -> Result<Vec<String>, StoreError> {
    let devices = listed(stores, &filter, DeviceSort::Name).await?;
    Ok(devices.into_iter().map(|device| device.name.replace("Device ", "")).collect())
}

/// The lists say the same as [`BoardDevice::attention`].
pub async fn devices_that_need_attention_come_first(stores: &Stores) -> Kept {
    let acme = a_board(stores).await?;
    let filter = DeviceFilter { organization: Some(acme), ..DeviceFilter::default() };
    let devices = listed(stores, &filter, DeviceSort::Attention).await?;
    let shown: Vec<_> = devices.iter().map(|device| (device.name.as_str(), device.attention(moment()))).collect();
    let expected = [
        ("Device 0", Attention::Error),
        ("Device 1", Attention::Offline),
        ("Device 2", Attention::Silent),
        ("Device 3", Attention::LowInk),
        ("Device 4", Attention::LowInk),
        ("Device 5", Attention::Fine),
        ("Device 6", Attention::Fine),
    ];
    assert_eq!(shown, expected);
    Ok(())
}

/// With organization, last status, time of the last change and forecast.
pub async fn a_device_is_shown_with_all_that_is_known_of_it(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let device = acme_records().device;
    let first = DeviceStatus { message: Some("Order 17 🖨".to_owned()), ..a_status(device) };
    let last = DeviceStatus { received: at(60), temperature: Some(31.5), remaining_inks: vec![ink(7.25)], ..first };
    for status in [a_status(device), last.clone()] {
        stores.device_statuses.put(acme, status).await?;
    }
    let forecast = DeviceForecast { device, ..a_forecast(acme, 0, 4) };
    stores.device_board.store_forecasts(std::slice::from_ref(&forecast)).await?;
    let expected = BoardDevice {
        organization: RegisteredOrganization { id: acme, name: ACME.to_owned() },
        guid: device,
        name: "Latex 1".to_owned(),
        status: Some(last),
        changed: Some(at(0)),
        forecast: forecast.inks,
    };
    assert_eq!(stores.device_board.find(None, device).await?, Some(expected.clone()));
    assert_eq!(stores.device_board.find(Some(acme), device).await?, Some(expected.clone()));
    let filter = DeviceFilter { organization: Some(acme), ..DeviceFilter::default() };
    assert_eq!(listed(stores, &filter, DeviceSort::Attention).await?, [expected]);
    // Interface 5, rule 3.
    assert_eq!(stores.device_board.find(Some(zenith), device).await?, None);
    assert_eq!(stores.device_board.find(None, guid(1)).await?, None);
    let never_seen = stores.device_board.find(Some(zenith), zenith_records().device).await?;
    assert_eq!(never_seen.map(|device| (device.status, device.changed)), Some((None, None)));
    Ok(())
}

/// A device must meet all conditions.
pub async fn filters_of_devices_combine(stores: &Stores) -> Kept {
    let acme = a_board(stores).await?;
    let none = || DeviceFilter { organization: Some(acme), ..DeviceFilter::default() };
    for (filter, expected) in [
        (none(), &["0", "1", "2", "3", "4", "5", "6"][..]),
        (DeviceFilter { statuses: vec![Status::Error], ..none() }, &["0", "2"]),
        (DeviceFilter { statuses: vec![Status::Error], silent: Some(false), ..none() }, &["0"]),
        (DeviceFilter { statuses: vec![Status::Offline, Status::Printing], ..none() }, &["1", "3"]),
        (DeviceFilter { silent: Some(true), ..none() }, &["2"]),
        (DeviceFilter { silent: Some(false), ..none() }, &["0", "1", "3", "4", "5", "6"]),
        (DeviceFilter { seen: Some(false), ..none() }, &["6"]),
        (DeviceFilter { seen: Some(true), silent: Some(true), ..none() }, &["2"]),
        (DeviceFilter { attention: Some(Attention::LowInk), ..none() }, &["3", "4"]),
        (DeviceFilter { search: Some("dEVICE 5".to_owned()), ..none() }, &["5"]),
        (DeviceFilter { search: Some("%".to_owned()), ..none() }, &[]),
        (DeviceFilter { search: Some("_".to_owned()), ..none() }, &[]),
        (DeviceFilter { organization: Some(OrganizationId(acme.0 + 1)), ..none() }, &[]),
    ] {
        assert_eq!(names(stores, filter.clone()).await?, expected, "{filter:?}");
    }
    Ok(())
}

/// A silent device counts with its last status, and as silent.
pub async fn devices_are_counted_by_status_and_need(stores: &Stores) -> Kept {
    let acme = a_board(stores).await?;
    let mut counted = stores.device_board.count(Some(acme), moment()).await?;
    counted.sort_by_key(|tally| (tally.attention, tally.status.map(Status::as_str)));
    let tally = |attention, status| DeviceTally { attention, status, devices: 1 };
    let expected = [
        tally(Attention::Error, Some(Status::Error)),
        tally(Attention::Offline, Some(Status::Offline)),
        tally(Attention::Silent, Some(Status::Error)),
        tally(Attention::LowInk, Some(Status::Idle)),
        tally(Attention::LowInk, Some(Status::Printing)),
        tally(Attention::Fine, None),
        tally(Attention::Fine, Some(Status::Idle)),
    ];
    assert_eq!(counted, expected);
    assert_eq!(stores.device_board.count(Some(OrganizationId(acme.0 + 1)), moment()).await?, []);
    Ok(())
}

/// Without a gap and without a repetition, over two organizations.
pub async fn pages_of_devices_follow_each_other(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    for (place, name) in ["Organization 0", "Organization 1"].iter().enumerate() {
        let number = |device: u128| 1_000 * (place as u128 + 1) + device;
        let devices =
            (0..60).map(|device| Device { guid: guid(number(device)), name: Some(format!("Device {}", device % 7)) });
        let organization =
            FleetOrganization { name: (*name).to_owned(), devices: devices.collect(), ..FleetOrganization::default() };
        register(stores, organization).await?;
        try_join_all((0..50).map(|device| {
            let status = Status::ALL[usize::try_from(device % 5).unwrap_or_default()];
            let received = at(NOW - i64::try_from(device).unwrap_or_default() * 30);
            let status = DeviceStatus { received, status, ..a_status(guid(number(device))) };
            stores.device_statuses.put(ids[place], status)
        }))
        .await?;
    }
    for sort in [DeviceSort::Attention, DeviceSort::Name] {
        let whole = listed(stores, &DeviceFilter::default(), sort).await?;
        assert_eq!(whole.len(), 120);
        assert!(whole.is_sorted_by_key(|device| device.cursor(sort, moment())), "{sort:?}");
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let asked = PageRequest { after, limit: 13 };
            let page = stores.device_board.page(&DeviceFilter::default(), sort, moment(), &asked).await?;
            pages.extend(page.items);
            let Some(next) = page.next else { break };
            after = DeviceCursor::parse(&next.to_string());
        }
        assert_eq!(pages, whole, "{sort:?}");
    }
    Ok(())
}

/// Names are compared by code point.
pub async fn texts_of_devices_stay_as_they_are(stores: &Stores) -> Kept {
    let acme = organizations(stores, &[false]).await?[0];
    let named = ["b", "B", "ä"].into_iter().chain(TEXTS.iter().copied());
    let devices: Vec<Device> =
        (0..).zip(named).map(|(number, name)| Device { guid: guid(number), name: Some(name.to_owned()) }).collect();
    let mut expected: Vec<String> = devices.iter().filter_map(|device| device.name.clone()).collect();
    register(stores, FleetOrganization { name: "Organization 0".to_owned(), devices, ..FleetOrganization::default() })
        .await?;
    expected.sort();
    for sort in [DeviceSort::Attention, DeviceSort::Name] {
        let filter = DeviceFilter { organization: Some(acme), ..DeviceFilter::default() };
        let found = listed(stores, &filter, sort).await?;
        assert_eq!(found.into_iter().map(|device| device.name).collect::<Vec<_>>(), expected);
    }
    Ok(())
}

/// A later status keeps the forecast; a device that never sent a status has none.
pub async fn a_forecast_is_replaced_and_outlives_the_next_status(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let (device, other) = (acme_records().device, zenith_records().device);
    assert_eq!(stores.device_board.devices_to_forecast(None, 10).await?, []);
    stores.device_statuses.put(acme, DeviceStatus { received: at(NOW), ..a_status(device) }).await?;
    assert_eq!(stores.device_board.devices_to_forecast(None, 10).await?, [(acme, device)]);
    assert_eq!(stores.device_board.devices_to_forecast(Some(device), 10).await?, []);
    let of = |device, organization, days| DeviceForecast { device, ..a_forecast(organization, 0, days) };
    for days in [9, 1] {
        stores.device_board.store_forecasts(&[of(device, acme, days), of(other, zenith, days)]).await?;
    }
    stores.device_statuses.put(acme, DeviceStatus { received: at(NOW + 1), ..a_status(device) }).await?;
    let found = stores.device_board.find(None, device).await?.ok_or("the device is registered")?;
    assert_eq!((found.attention(moment()), found.forecast), (Attention::LowInk, of(device, acme, 1).inks));
    let filter = DeviceFilter { attention: Some(Attention::LowInk), ..DeviceFilter::default() };
    assert_eq!(names(stores, filter.clone()).await?, ["Latex 1"]);
    assert_eq!(stores.device_board.find(None, other).await?.map(|device| device.forecast), Some(Vec::new()));
    let none = DeviceForecast { inks: Vec::new(), ..of(device, acme, 1) };
    stores.device_board.store_forecasts(&[none]).await?;
    assert_eq!(names(stores, filter).await?, Vec::<String>::new());
    Ok(())
}
