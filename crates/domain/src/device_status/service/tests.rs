//! Updating a status over fakes.

use super::DeviceStatusService;
use crate::caller::OrganizationId;
use crate::device_status::{MockDeviceStatusRepository, QueueLength, Status};
use crate::error::{Outcome, Reason, StoreError};
use crate::fleet::MockFleetDirectory;
use crate::guid::DeviceGuid;
use crate::json::Json;
use crate::sample::{detail, is_store_failure, json, reason};
use crate::testing::{FixedClock, a_caller, a_status, at, numbered};
use std::sync::Arc;

const ACME: OrganizationId = OrganizationId(1);

const UPDATE: &str =
    r#"{"DeviceGUID":"{00000000-0000-0000-0000-000000000007}","Status":"idle","QueueLength":{"Length":0}}"#;

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

async fn update(statuses: MockDeviceStatusRepository, fleet: MockFleetDirectory, body: &Json) -> Outcome<()> {
    let clock = Arc::new(FixedClock::new(at(5)));
    DeviceStatusService::new(Arc::new(statuses), Arc::new(fleet), clock).update(&a_caller(ACME), body).await
}

/// The answer to a body that must not be stored.
async fn refused(fleet: MockFleetDirectory, body: &str) -> Reason {
    reason(update(MockDeviceStatusRepository::new(), fleet, &json(body)).await)
}

#[tokio::test]
async fn a_status_is_stored_whole_with_its_time_of_receipt() {
    // Decisions D5, R5: bare, or wrapped in an array of one.
    for body in [UPDATE.to_owned(), format!("[{UPDATE}]")] {
        let mut statuses = MockDeviceStatusRepository::new();
        let mut expected = a_status(device());
        (expected.received, expected.status) = (at(5), Status::Idle);
        expected.queue_length = QueueLength::Length(0.0);
        statuses
            .expect_put()
            .times(1)
            .withf(move |organization, status| *organization == ACME && *status == expected)
            .returning(|_, _| Ok(()));
        assert!(update(statuses, directory(true), &json(&body)).await.is_ok());
    }
}

#[tokio::test]
async fn an_unknown_device_answers_before_the_other_values() {
    // Decision D1: here R1 yields.
    let device = "\"DeviceGUID\":\"00000000-0000-0000-0000-000000000007\"";
    for rest in ["", ",\"Status\":\"Busy\"", ",\"QueueLength\":5"] {
        let body = format!("{{{device}{rest}}}");
        assert_eq!(refused(directory(false), &body).await, Reason::DeviceNotFound, "{body}");
    }
    assert_eq!(refused(directory(true), &format!("{{{device}}}")).await, Reason::StatusInvalid);
}

#[tokio::test]
async fn a_malformed_device_guid_is_not_found_without_looking() {
    // Decisions D1, R7, R9.
    for guid in
        ["\"x\"", "5", "[\"00000000-0000-0000-0000-000000000007\"]", "\"00000000-0000-0000-0000-000000000007\\u0000\""]
    {
        let body = format!("{{\"DeviceGUID\":{guid}}}");
        assert_eq!(refused(MockFleetDirectory::new(), &body).await, Reason::DeviceNotFound, "{body}");
    }
    let body = json("{\"DeviceGUID\":\"x\"}");
    let outcome = update(MockDeviceStatusRepository::new(), MockFleetDirectory::new(), &body).await;
    assert_eq!(detail(outcome), "DeviceGUID \"x\" is not registered", "decision R11");
}

#[tokio::test]
async fn a_body_without_a_device_guid_says_so() {
    // Decision D1.
    for body in ["{}", "null", "[]", "[{},{}]", "5", "{\"DeviceGUID\":null}", "{\"DeviceGUID\":\"\"}", "[[{}]]"] {
        assert_eq!(refused(MockFleetDirectory::new(), body).await, Reason::DeviceGuidRequired, "{body}");
    }
}

#[tokio::test]
async fn a_status_is_accepted_only_once_it_is_stored() {
    // Decision D6.
    let mut statuses = MockDeviceStatusRepository::new();
    statuses.expect_put().times(1).returning(|_, _| Err(StoreError::unavailable("no route")));
    assert!(is_store_failure(&update(statuses, directory(true), &json(UPDATE)).await));
}

#[tokio::test]
async fn a_directory_that_is_down_makes_no_device_unknown() {
    // Decision R4.
    let mut fleet = MockFleetDirectory::new();
    fleet.expect_find_device().returning(|_, _| Err(StoreError::unavailable("no route")));
    assert!(is_store_failure(&update(MockDeviceStatusRepository::new(), fleet, &json(UPDATE)).await));
}
