//! How a device status is spelled in JSON (decisions R5, D1–D4).

use super::*;
use crate::extract::json::parse;
use proptest::prelude::*;
use serde_json::{Value, json};

fn body(json: &Value) -> DeviceStatusBody {
    parse(json.to_string().as_bytes()).unwrap()
}

/// The values of a valid body with one more member.
fn with(name: &str, value: Value) -> Result<StatusInput, Failure> {
    let mut json = json!({ "DeviceGUID": "d", "Status": "Idle", "QueueLength": { "Length": 0 } });
    json[name] = value;
    StatusInput::try_from(body(&json))
}

fn reason<T>(outcome: Result<T, Failure>) -> Reason {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal.reason,
        _ => panic!("nothing was refused"),
    }
}

/// Why the values with one more member are refused.
fn refused(name: &str, value: &Value) -> Reason {
    reason(with(name, value.clone()).and_then(StatusValues::new))
}

fn queue(value: Value) -> Result<Option<QueueLengthInput>, Failure> {
    with("QueueLength", value).map(|input| input.queue_length)
}

#[test]
fn a_device_guid_that_is_missing_or_empty_is_required() {
    // Decision D1.
    let bodies = [json!({}), json!(null), json!([]), json!([{}, {}]), json!(5), json!("x"), json!([[{}]])];
    let devices = [json!(null), json!(""), json!("  ")].map(|value| json!({ "DeviceGUID": value }));
    for json in bodies.into_iter().chain(devices) {
        assert_eq!(reason(UpdateDeviceStatus::try_from(body(&json))), Reason::DeviceGuidRequired, "{json}");
    }
}

#[test]
fn a_device_guid_of_another_type_is_malformed_and_not_missing() {
    // Decisions D1, R7: it is looked for, and not found.
    for value in [json!(5), json!(true), json!([]), json!({}), json!(["x"])] {
        assert!(UpdateDeviceStatus::try_from(body(&json!({ "deviceguid": value }))).is_ok(), "{value}");
    }
}

#[test]
fn wrong_values_do_not_come_before_the_device() {
    // Decision D1: here R1 yields.
    let wrong = json!({ "DeviceGUID": "d", "QueueLength": 5, "Temperature": [], "RemainingInks": 5 });
    assert!(UpdateDeviceStatus::try_from(body(&wrong)).is_ok());
}

#[test]
fn every_member_is_handed_on() {
    // Interface 2.8.
    let json = json!([{
        "DeviceGUID": "d", "status": "Printing", "Message": "Ink is low", "Temperature": 41.5,
        "ConnectionState": "Online", "ConnectionMessage": "12 ms", "QueueLength": { "Area": 2.25 }, "Other": 1,
        "RemainingInks": [{ "InkIndex": 0, "InkName": "Cyan", "Level": -1, "MaxLevel": 775.5 }],
    }]);
    let text = |text: &str| Some(text.to_owned());
    let ink = RemainingInkInput { index: Some(0.0), name: text("Cyan"), level: Some(-1.0), max_level: Some(775.5) };
    let expected = StatusInput {
        status: text("Printing"),
        message: text("Ink is low"),
        temperature: Some(41.5),
        connection_state: text("Online"),
        connection_message: text("12 ms"),
        remaining_inks: vec![ink],
        queue_length: Some(QueueLengthInput { area: Some(2.25), ..QueueLengthInput::default() }),
    };
    assert_eq!(StatusInput::try_from(body(&json)).unwrap(), expected);
}

#[test]
fn words_of_another_type_are_refused() {
    // Decisions D2, D4.
    for wrong in [json!(null), json!(1), json!(true), json!(["Idle"]), json!({})] {
        assert_eq!(refused("Status", &wrong), Reason::StatusInvalid, "{wrong}");
    }
    for wrong in [json!(0), json!(false), json!([]), json!({})] {
        assert_eq!(refused("ConnectionState", &wrong), Reason::ConnectionStateInvalid, "{wrong}");
    }
}

#[test]
fn a_temperature_is_a_finite_number() {
    // Decisions D4, R5.
    for (sent, degrees) in [(json!(41), 41.0), (json!(-273.15), -273.15), (json!("12.5"), 12.5), (json!(" 7 "), 7.0)] {
        assert_eq!(with("Temperature", sent).unwrap().temperature, Some(degrees));
    }
    for wrong in [json!("warm"), json!("NaN"), json!("inf"), json!("1e999"), json!(true), json!([1]), json!({})] {
        assert_eq!(refused("Temperature", &wrong), Reason::TemperatureInvalid, "{wrong}");
    }
}

#[test]
fn an_empty_temperature_is_absent() {
    // Decision D4: no status is lost because its device has no thermometer.
    for empty in [json!(""), json!(" "), json!(null)] {
        assert_eq!(with("Temperature", empty).unwrap().temperature, None);
    }
}

#[test]
fn messages_of_another_type_are_absent() {
    // Decision R5, ADR 19.
    assert_eq!(with("Message", json!(150)).unwrap().message.as_deref(), Some("150"));
    for other in [json!(true), json!([]), json!({})] {
        assert_eq!(with("Message", other.clone()).unwrap().message, None);
        assert_eq!(with("ConnectionMessage", other).unwrap().connection_message, None);
    }
}

#[test]
fn a_single_ink_counts_as_an_array_of_one() {
    // Decision D4.
    let inks = |value: Value| with("RemainingInks", value).unwrap().remaining_inks;
    let ink = json!({ "inkindex": "3", "InkName": 5, "Level": "12.5", "MaxLevel": 775, "Other": null });
    let name = Some("5".to_owned());
    let expected = RemainingInkInput { index: Some(3.0), name, level: Some(12.5), max_level: Some(775.0) };
    for single in [ink.clone(), json!([ink])] {
        assert_eq!(inks(single), std::slice::from_ref(&expected));
    }
    assert_eq!(inks(json!([ink, ink])), [expected.clone(), expected]);
    assert_eq!(inks(json!([])), []);
    assert_eq!(inks(json!(null)), []);
}

#[test]
fn each_ink_carries_its_four_members() {
    // Decision D4.
    let ink = json!({ "InkIndex": 0, "InkName": "Cyan", "Level": 1, "MaxLevel": 2 });
    for name in ["InkIndex", "InkName", "Level", "MaxLevel"] {
        for wrong in [json!(null), json!([]), json!({}), json!(true)] {
            let mut bad = ink.clone();
            bad[name] = wrong;
            assert_eq!(refused("RemainingInks", &json!([ink, bad])), Reason::RemainingInksInvalid, "{bad}");
        }
    }
    for name in ["InkIndex", "Level", "MaxLevel"] {
        for wrong in [json!(""), json!("x"), json!("1e999"), json!("NaN")] {
            let mut bad = ink.clone();
            bad[name] = wrong;
            assert_eq!(refused("RemainingInks", &bad), Reason::RemainingInksInvalid, "{bad}");
        }
    }
    for wrong in [json!(5), json!("Cyan"), json!(true), json!([null]), json!([[]]), json!([5]), json!({})] {
        assert_eq!(refused("RemainingInks", &wrong), Reason::RemainingInksInvalid, "{wrong}");
    }
    let Err(Failure::Refused(refusal)) = with("RemainingInks", json!([ink, { "Level": "x" }])) else {
        panic!("an ink without a level was taken");
    };
    assert_eq!(refusal.detail.as_str(), "item 1 of RemainingInks: Level is \"x\"", "decision R11");
}

#[test]
fn an_empty_ink_name_is_kept() {
    // Decision D4.
    let ink = json!({ "InkIndex": 0, "InkName": "", "Level": 1, "MaxLevel": 2 });
    let values = with("RemainingInks", ink).unwrap();
    assert_eq!(values.remaining_inks[0].name.as_deref(), Some(""));
    assert!(StatusValues::new(values).is_ok());
}

#[test]
fn a_queue_length_is_an_object_of_numbers() {
    // Decisions D3, R5.
    let area = QueueLengthInput { area: Some(0.25), ..QueueLengthInput::default() };
    assert_eq!(queue(json!({ "area": "0.25", "Length": null, "Other": "x" })).unwrap(), Some(area));
    let sheets = QueueLengthInput { sheets: Some(7.0), ..QueueLengthInput::default() };
    assert_eq!(queue(json!({ "SHEETS": "7.0" })).unwrap(), Some(sheets));
    for wrong in [json!(5), json!("5"), json!(true), json!([]), json!([{ "Length": 5 }]), json!(null)] {
        assert_eq!(refused("QueueLength", &wrong), Reason::QueueLengthInvalid, "{wrong}");
    }
    for wrong in [json!("NaN"), json!("inf"), json!(""), json!("x"), json!(true), json!([]), json!({})] {
        for name in ["Length", "Area", "Sheets"] {
            assert_eq!(refused("QueueLength", &json!({ name: wrong })), Reason::QueueLengthInvalid, "{wrong}");
        }
    }
    let huge: DeviceStatusBody = parse(br#"{"DeviceGUID":"d","QueueLength":{"Length":1e999}}"#).unwrap();
    assert_eq!(reason(StatusInput::try_from(huge)), Reason::QueueLengthInvalid);
}

proptest! {
    #[test]
    fn numbers_are_read_as_numbers_or_texts(numbers in any::<[Option<i32>; 3]>(), as_texts in any::<bool>()) {
        let value = |number: Option<i32>| match number {
            Some(number) if as_texts => json!(number.to_string()),
            number => json!(number),
        };
        let [length, area, sheets] = numbers;
        let sent = json!({ "Length": value(length), "Area": value(area), "Sheets": value(sheets) });
        let [length, area, sheets] = numbers.map(|number| number.map(f64::from));
        prop_assert_eq!(queue(sent).unwrap(), Some(QueueLengthInput { length, area, sheets }));
    }
}
