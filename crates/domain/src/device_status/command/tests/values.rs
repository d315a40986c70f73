//! All members but QueueLength (decisions D1, D2, D4).

use crate::device_status::command::read_device;
use crate::device_status::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
use crate::error::{Failure, Outcome, Reason};
use crate::guid::DeviceGuid;
use crate::json::Json;
use crate::sample::{any_json, any_leaf, detail, json, object, reason, text, with};
use crate::testing::{at, numbered};
use proptest::prelude::*;

fn device() -> DeviceGuid {
    DeviceGuid::from(numbered(7))
}

fn valid() -> Json {
    json(r#"{"Status":"Idle","QueueLength":{"Length":0}}"#)
}

fn read(name: &str, value: &str) -> Outcome<DeviceStatus> {
    DeviceStatus::read(&with(&valid(), name, Some(json(value))), device(), at(5))
}

fn refused(name: &str, value: &str) -> Reason {
    reason(read(name, value))
}

#[test]
fn a_device_guid_that_is_missing_or_empty_is_required() {
    // Decision D1.
    for value in ["null", "\"\"", "\"  \""] {
        assert_eq!(reason(read_device(&object(&[("DeviceGUID", json(value))]))), Reason::DeviceGuidRequired, "{value}");
    }
    for body in ["{}", "[]", "null", "5", "\"x\""] {
        assert_eq!(reason(read_device(&json(body))), Reason::DeviceGuidRequired, "{body}");
    }
}

#[test]
fn a_device_guid_of_another_type_is_malformed_and_not_missing() {
    // Decisions D1, R7: it is looked for, and not found.
    for value in ["5", "true", "[]", "{}", "[\"x\"]"] {
        assert_eq!(read_device(&object(&[("deviceguid", json(value))])).unwrap(), value);
    }
}

#[test]
fn a_status_of_everything_is_read_whole() {
    // Interface 2.8.
    let body = json(
        r#"{"Status":"Printing","Message":"Ink is low","Temperature":41.5,"ConnectionState":"Online",
            "ConnectionMessage":"12 ms","RemainingInks":[{"InkIndex":0,"InkName":"Cyan","Level":-1,"MaxLevel":775.5}],
            "QueueLength":{"Area":2.25},"Other":1}"#,
    );
    let status = DeviceStatus {
        device: device(),
        received: at(5),
        status: Status::Printing,
        message: Some("Ink is low".to_owned()),
        temperature: Some(41.5),
        connection_state: Some(ConnectionState::Online),
        connection_message: Some("12 ms".to_owned()),
        remaining_inks: vec![RemainingInk { index: 0.0, name: "Cyan".to_owned(), level: -1.0, max_level: 775.5 }],
        queue_length: QueueLength::Area(2.25),
    };
    assert_eq!(DeviceStatus::read(&body, device(), at(5)).unwrap(), status);
}

#[test]
fn what_is_not_sent_is_absent() {
    // Decision D5: it doesn't stay as it was before.
    let status = DeviceStatus::read(&valid(), device(), at(5)).unwrap();
    assert_eq!((status.message, status.temperature, status.connection_state), (None, None, None));
    assert_eq!((status.connection_message, status.remaining_inks), (None, Vec::new()));
    for name in ["Message", "Temperature", "ConnectionState", "ConnectionMessage", "RemainingInks"] {
        assert_eq!(read(name, "null").unwrap(), DeviceStatus::read(&valid(), device(), at(5)).unwrap(), "{name}");
    }
}

#[test]
fn the_status_is_one_of_seven_words_without_case() {
    // Decision D2.
    for status in Status::ALL {
        for sent in [status.as_str().to_owned(), status.as_str().to_uppercase(), status.as_str().to_lowercase()] {
            assert_eq!(read("Status", &format!("\"{sent}\"")).unwrap().status, *status);
        }
    }
    for wrong in ["null", "\"\"", "\"Idle \"", "\"Busy\"", "\"Prıntıng\"", "1", "true", "[\"Idle\"]", "{}"] {
        assert_eq!(refused("Status", wrong), Reason::StatusInvalid, "{wrong}");
    }
    let missing = DeviceStatus::read(&with(&valid(), "Status", None), device(), at(5));
    assert_eq!(detail(missing), "Status is missing", "decision R11");
}

#[test]
fn the_connection_state_is_one_of_three_words_when_it_is_given() {
    // Decision D4.
    for state in ConnectionState::ALL {
        let sent = format!("\"{}\"", state.as_str().to_uppercase());
        assert_eq!(read("ConnectionState", &sent).unwrap().connection_state, Some(*state));
    }
    for wrong in ["\"\"", "\"Idle\"", "0", "false", "[]", "{}"] {
        assert_eq!(refused("ConnectionState", wrong), Reason::ConnectionStateInvalid, "{wrong}");
    }
}

#[test]
fn a_temperature_is_a_finite_number() {
    // Decisions D4, R5.
    for (sent, degrees) in [("41", 41.0), ("-273.15", -273.15), ("\"12.5\"", 12.5), ("1e2", 100.0), ("\" 7 \"", 7.0)] {
        assert_eq!(read("Temperature", sent).unwrap().temperature, Some(degrees), "{sent}");
    }
    for wrong in ["\"\"", "\"warm\"", "\"NaN\"", "\"inf\"", "\"-Infinity\"", "1e999", "\"1e999\"", "true", "[1]", "{}"]
    {
        assert_eq!(refused("Temperature", wrong), Reason::TemperatureInvalid, "{wrong}");
    }
}

#[test]
fn messages_are_texts_stored_as_they_are() {
    // Decisions R5, R9.
    assert_eq!(read("Message", "\" a\\u0000 \"").unwrap().message.as_deref(), Some(" a\u{FFFD} "));
    assert_eq!(read("ConnectionMessage", "1.50").unwrap().connection_message.as_deref(), Some("1.50"));
    for no_text in ["true", "[]", "{}"] {
        assert_eq!(read("Message", no_text).unwrap().message, None, "{no_text}");
    }
}

#[test]
fn a_single_ink_counts_as_an_array_of_one() {
    // Decision D4.
    let ink = r#"{"inkindex":"3","InkName":5,"Level":"12.5","MaxLevel":775,"Other":null}"#;
    let expected = [RemainingInk { index: 3.0, name: "5".to_owned(), level: 12.5, max_level: 775.0 }];
    assert_eq!(read("RemainingInks", ink).unwrap().remaining_inks, expected);
    assert_eq!(read("RemainingInks", &format!("[{ink}]")).unwrap().remaining_inks, expected);
    assert_eq!(read("RemainingInks", &format!("[{ink},{ink}]")).unwrap().remaining_inks.len(), 2);
    assert_eq!(read("RemainingInks", "[]").unwrap().remaining_inks, []);
}

#[test]
fn each_ink_carries_its_four_members() {
    // Decision D4.
    let ink = json(r#"{"InkIndex":0,"InkName":"Cyan","Level":1,"MaxLevel":2}"#);
    for name in ["InkIndex", "InkName", "Level", "MaxLevel"] {
        let wrong = ["null", "\"\"", "\" \"", "[]", "{}", "true"].map(json);
        for value in wrong.into_iter().map(Some).chain([None]) {
            let inks = format!("[{ink},{}]", with(&ink, name, value));
            assert_eq!(refused("RemainingInks", &inks), Reason::RemainingInksInvalid, "{inks}");
            assert!(detail(read("RemainingInks", &inks)).starts_with("item 1 of RemainingInks: "), "decision R11");
        }
    }
    for name in ["InkIndex", "Level", "MaxLevel"] {
        for value in ["\"x\"", "1e999", "\"NaN\""] {
            let inks = with(&ink, name, Some(json(value))).to_string();
            assert_eq!(refused("RemainingInks", &inks), Reason::RemainingInksInvalid, "{inks}");
        }
    }
    for wrong in ["5", "\"Cyan\"", "true", "[null]", "[[]]", "[5]", "{}"] {
        assert_eq!(refused("RemainingInks", wrong), Reason::RemainingInksInvalid, "{wrong}");
    }
}

const MEMBERS: &[&str] = &[
    "DeviceGUID",
    "Status",
    "Message",
    "Temperature",
    "ConnectionState",
    "ConnectionMessage",
    "RemainingInks",
    "InkIndex",
    "InkName",
    "Level",
    "MaxLevel",
    "QueueLength",
    "Length",
    "Area",
    "Sheets",
];

proptest! {
    #[test]
    fn any_json_is_read_or_refused(body in any_json(MEMBERS)) {
        let device_guid = read_device(&body);
        prop_assert!(device_guid.is_ok() || matches!(device_guid, Err(Failure::Refused(_))));
        let status = DeviceStatus::read(&body, device(), at(5));
        prop_assert!(status.is_ok() || matches!(status, Err(Failure::Refused(_))));
    }

    /// Decision D4: whatever is accepted is finite.
    #[test]
    fn any_value_in_a_valid_body_is_read_or_refused(
        name in prop::sample::select(MEMBERS),
        value in prop_oneof![any_leaf(), any_json(MEMBERS)],
    ) {
        match DeviceStatus::read(&with(&valid(), name, Some(value)), device(), at(5)) {
            Ok(status) => {
                prop_assert!(status.temperature.is_none_or(f64::is_finite));
                let numbers = |ink: &RemainingInk| [ink.index, ink.level, ink.max_level].into_iter().all(f64::is_finite);
                prop_assert!(status.remaining_inks.iter().all(numbers));
            }
            Err(failure) => prop_assert!(matches!(failure, Failure::Refused(_))),
        }
    }

    #[test]
    fn what_is_valid_is_read_as_it_was_meant(
        status in prop::sample::select(Status::ALL),
        message in prop::option::of("[^\\x00]{0,9}"),
        temperature in prop::option::of(-1e9..1e9_f64),
        state in prop::option::of(prop::sample::select(ConnectionState::ALL)),
        levels in prop::collection::vec((-1e3..1e3_f64, "[a-z]{1,9}"), 0..4),
        as_texts in any::<bool>(),
    ) {
        let number = |number: f64| if as_texts { text(&number.to_string()) } else { Json::Number(number.to_string()) };
        let ink = |(level, name): &(f64, String)| object(&[
            ("InkIndex", number(1.0)), ("InkName", text(name)), ("Level", number(*level)), ("MaxLevel", number(level.abs())),
        ]);
        let mut members = vec![
            ("Status", text(status.as_str())),
            ("QueueLength", object(&[("Length", number(1.5))])),
            ("RemainingInks", Json::Array(levels.iter().map(ink).collect())),
        ];
        members.extend(message.iter().map(|message| ("Message", text(message))));
        members.extend(temperature.map(|degrees| ("Temperature", number(degrees))));
        members.extend(state.map(|state| ("ConnectionState", text(state.as_str()))));
        let inks = levels.iter().map(|(level, name)| {
            RemainingInk { index: 1.0, name: name.clone(), level: *level, max_level: level.abs() }
        });
        let meant = DeviceStatus {
            device: device(),
            received: at(5),
            status,
            message: message.clone(),
            temperature,
            connection_state: state,
            connection_message: None,
            remaining_inks: inks.collect(),
            queue_length: QueueLength::Length(1.5),
        };
        prop_assert_eq!(DeviceStatus::read(&object(&members), device(), at(5)).unwrap(), meant);
    }
}
