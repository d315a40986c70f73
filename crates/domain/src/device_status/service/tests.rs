//! Updating a status over fakes.

use super::DeviceStatusService;
use crate::caller::OrganizationId;
use crate::device_status::{
    MockDeviceStatusRepository, QueueLength, QueueLengthInput, Status, StatusInput, StatusValues, UpdateDeviceStatus,
};
use crate::error::{Outcome, Reason, StoreError};
use crate::fleet::MockFleetDirectory;
use crate::guid::DeviceGuid;
use crate::sample::{detail, is_store_failure, reason};
use crate::testing::{FixedClock, a_caller, a_status, at, numbered};
use std::sync::Arc;

const ACME: OrganizationId = OrganizationId(1);

const DEVICE: &str = "{00000000-0000-0000-0000-000000000007}";

fn device() -> DeviceGuid {
    DeviceGuid::from(numbered(7))
}

/// A directory in which the device 7 of the caller's organization is registered, or not.
fn directory(registered: bool) -> MockFleetDirectory {
    let mut fleet = MockFleetDirectory::new();
    fleet
        .expect_find_device()
        .times(1)
        .withf(|organization, guid| (*organization, *guid) == (ACME, device()))
        .returning(move |_, _| Ok(registered.then(|| "Latex 1".to_owned())));
    fleet
}

fn idle() -> Outcome<StatusValues> {
    let queue_length = Some(QueueLengthInput { length: Some(0.0), ..QueueLengthInput::default() });
    StatusValues::new(StatusInput { status: Some("idle".to_owned()), queue_length, ..StatusInput::default() })
}

async fn update(
    statuses: MockDeviceStatusRepository,
    fleet: MockFleetDirectory,
    device: &str,
    values: Outcome<StatusValues>,
) -> Outcome<()> {
    let clock = Arc::new(FixedClock::new(at(5)));
    let service = DeviceStatusService::new(Arc::new(statuses), Arc::new(fleet), clock);
    service.update(&a_caller(ACME), UpdateDeviceStatus::new(Some(device.to_owned()), values)?).await
}

#[tokio::test]
async fn a_status_is_stored_whole_with_its_time_of_receipt() {
    // Decision D5.
    let mut statuses = MockDeviceStatusRepository::new();
    let mut expected = a_status(device());
    (expected.received, expected.status) = (at(5), Status::Idle);
    expected.queue_length = QueueLength::Length(0.0);
    statuses
        .expect_put()
        .times(1)
        .withf(move |organization, status| *organization == ACME && *status == expected)
        .returning(|_, _| Ok(()));
    assert!(update(statuses, directory(true), DEVICE, idle()).await.is_ok());
}

#[tokio::test]
async fn an_unknown_device_answers_before_the_other_values() {
    // Decision D1: here R1 yields.
    let wrong = || StatusValues::new(StatusInput { status: Some("Busy".to_owned()), ..StatusInput::default() });
    for values in [wrong(), idle()] {
        let outcome = update(MockDeviceStatusRepository::new(), directory(false), DEVICE, values).await;
        assert_eq!(reason(outcome), Reason::DeviceNotFound);
    }
    let outcome = update(MockDeviceStatusRepository::new(), directory(true), DEVICE, wrong()).await;
    assert_eq!(reason(outcome), Reason::StatusInvalid);
}

#[tokio::test]
async fn a_malformed_device_guid_is_not_found_without_looking() {
    // Decisions D1, R7, R9.
    for guid in ["x", "5", "[\"00000000-0000-0000-0000-000000000007\"]", "00000000-0000-0000-0000-000000000007\0"] {
        let outcome = update(MockDeviceStatusRepository::new(), MockFleetDirectory::new(), guid, idle()).await;
        assert_eq!(reason(outcome), Reason::DeviceNotFound, "{guid}");
    }
    let outcome = update(MockDeviceStatusRepository::new(), MockFleetDirectory::new(), "x", idle()).await;
    assert_eq!(detail(outcome), "DeviceGUID \"x\" is not registered", "decision R11");
}

#[tokio::test]
async fn a_status_is_accepted_only_once_it_is_stored() {
    // Decision D6.
    let mut statuses = MockDeviceStatusRepository::new();
    statuses.expect_put().times(1).returning(|_, _| Err(StoreError::unavailable("no route")));
    assert!(is_store_failure(&update(statuses, directory(true), DEVICE, idle()).await));
}

#[tokio::test]
async fn a_directory_that_is_down_makes_no_device_unknown() {
    // Decision R4.
    let mut fleet = MockFleetDirectory::new();
    fleet.expect_find_device().returning(|_, _| Err(StoreError::unavailable("no route")));
    assert!(is_store_failure(&update(MockDeviceStatusRepository::new(), fleet, DEVICE, idle()).await));
}
