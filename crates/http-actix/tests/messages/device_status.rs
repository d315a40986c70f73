//! Device statuses (interface 4.10, decisions D1–D5).

use super::support::{ACME, Reply, Request, Server};
use domain::device_status::{ConnectionState, DeviceStatus, QueueLength, Status};
use domain::testing::{acme_records, zenith_records};

const UPDATED: &str = "Device status successfully updated";

fn update(server: &Server, body: &str) -> Reply {
    server.send(Request::post("/api/v2/device/status").body(body))
}

/// A status with these further members.
fn status(members: &str) -> String {
    format!(r#"{{"DeviceGUID":"{}","Status":"Idle",{members}}}"#, acme_records().device)
}

fn stored(server: &Server) -> DeviceStatus {
    server.kept.device_status(ACME, acme_records().device).expect("a status")
}

#[test]
fn each_status_replaces_the_former_one_whole() {
    // Decisions D5, R5, R6: a one-element array, numeric strings, no content type.
    let server = Server::start();
    let full = r#""Message":"Hot","Temperature":"41.5","ConnectionState":"UNSTABLE","ConnectionMessage":7,
        "RemainingInks":{"InkIndex":0,"InkName":"Cyan","Level":-1,"MaxLevel":"500"},"QueueLength":{"Sheets":12}"#;
    update(&server, &format!("[{}]", status(full))).assert_success(UPDATED);
    let first = stored(&server);
    assert_eq!((first.message.as_deref(), first.temperature), (Some("Hot"), Some(41.5)));
    assert_eq!(first.connection_state, Some(ConnectionState::Unstable));
    assert_eq!(first.connection_message.as_deref(), Some("7"));
    assert_eq!((first.remaining_inks.len(), first.queue_length), (1, QueueLength::Sheets(12)));
    update(&server, &status(r#""QueueLength":{"Length":0,"Area":2.5,"Sheets":0}"#).replace("Idle", "pRinting"))
        .assert_success(UPDATED);
    let second = stored(&server);
    assert_eq!((second.status, second.queue_length), (Status::Printing, QueueLength::Area(2.5)));
    assert_eq!((second.message, second.temperature, second.remaining_inks.len()), (None, None, 0));
    assert!(second.received > first.received);
}

#[test]
fn the_device_is_checked_before_all_else() {
    // Decision D1.
    let server = Server::start();
    for body in ["{}", r#"{"DeviceGUID":""}"#, r#"{"DeviceGUID":null}"#, "[]", "7"] {
        update(&server, body).assert_error(400, "DeviceGUID value required");
    }
    for guid in ["unknown", &zenith_records().device.to_string(), "88de5c02-cce6-411f-950f-be309caa4439"] {
        update(&server, &format!(r#"{{"DeviceGUID":"{guid}"}}"#)).assert_error(404, "DeviceGUID is not found");
    }
}

#[test]
fn the_status_is_one_of_seven() {
    // Decision D2.
    let server = Server::start();
    let message = "“Status” value is required: Error, Idle, Offline, Printing, Aborting, Sleeping or Calibrating";
    let good = status(r#""QueueLength":{"Length":1}"#);
    for bad in [good.replace("\"Idle\"", "null"), good.replace("Idle", "Busy"), good.replace("\"Idle\"", "7")] {
        update(&server, &bad).assert_error(400, message);
    }
    for word in ["Error", "Idle", "Offline", "Printing", "Aborting", "Sleeping", "CALIBRATING"] {
        update(&server, &good.replace("Idle", word)).assert_success(UPDATED);
    }
}

#[test]
fn the_queue_length_has_one_measure() {
    // Decision D3.
    let server = Server::start();
    let message = "“QueueLength” must contain one of Length, Area or Sheets";
    for length in
        ["null", "{}", "7", r#"{"Length":1,"Area":1}"#, r#"{"Length":-1}"#, r#"{"Sheets":1.5}"#, r#"{"Area":"NaN"}"#]
    {
        update(&server, &status(&format!(r#""QueueLength":{length}"#))).assert_error(400, message);
    }
    update(&server, &status(r#""Message":"x""#)).assert_error(400, message);
    update(&server, &status(r#""QueueLength":{"Length":0,"Area":0,"Sheets":0}"#)).assert_success(UPDATED);
    assert_eq!(stored(&server).queue_length, QueueLength::Length(0.0));
}

#[test]
fn the_other_values_are_checked() {
    // Decision D4.
    let server = Server::start();
    let with = |members: &str| update(&server, &status(&format!(r#"{members},"QueueLength":{{"Length":1}}"#)));
    let message = "“ConnectionState” must be Online, Offline or Unstable";
    with(r#""ConnectionState":"Lost""#).assert_error(400, message);
    with(r#""Temperature":"warm""#).assert_error(400, "“Temperature” must be a number");
    with(r#""Temperature":1e999"#).assert_error(400, "“Temperature” must be a number");
    let message = "“RemainingInks” items require InkIndex, InkName, Level and MaxLevel";
    for inks in ["7", "[7]", "[{}]", r#"[{"InkIndex":0,"InkName":"C","Level":1}]"#] {
        with(&format!(r#""RemainingInks":{inks}"#)).assert_error(400, message);
    }
    with(r#""RemainingInks":[],"Unknown":{}"#).assert_success(UPDATED);
}
