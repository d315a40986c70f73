//! All members but QueueLength (decisions D1, D2, D4).

use crate::device_status::{
    ConnectionState, DeviceStatus, QueueLength, QueueLengthInput, RemainingInk, RemainingInkInput, Status, StatusInput,
    StatusValues, UpdateDeviceStatus,
};
use crate::error::{Outcome, Reason};
use crate::guid::DeviceGuid;
use crate::sample::{detail, reason};
use crate::testing::{at, numbered};
use proptest::prelude::*;

fn device() -> DeviceGuid {
    DeviceGuid::from(numbered(7))
}

fn valid() -> StatusInput {
    let queue_length = Some(QueueLengthInput { length: Some(0.0), ..QueueLengthInput::default() });
    StatusInput { status: Some("Idle".to_owned()), queue_length, ..StatusInput::default() }
}

fn read(input: StatusInput) -> Outcome<DeviceStatus> {
    StatusValues::new(input).map(|values| values.into_status(device(), at(5)))
}

fn cyan() -> RemainingInkInput {
    let name = Some("Cyan".to_owned());
    RemainingInkInput { index: Some(0.0), name, level: Some(-1.0), max_level: Some(775.5) }
}

#[test]
fn a_device_guid_that_is_missing_or_empty_is_required() {
    // Decision D1.
    for sent in [None, Some(""), Some("  ")] {
        let outcome = UpdateDeviceStatus::new(sent.map(str::to_owned), StatusValues::new(valid()));
        assert_eq!(reason(outcome), Reason::DeviceGuidRequired, "{sent:?}");
    }
}

#[test]
fn other_values_are_judged_only_after_the_device() {
    // Decision D1: here R1 yields.
    let wrong = || StatusValues::new(StatusInput::default());
    assert_eq!(reason(UpdateDeviceStatus::new(None, wrong())), Reason::DeviceGuidRequired);
    let command = UpdateDeviceStatus::new(Some("x".to_owned()), wrong()).unwrap();
    assert_eq!(command.device, "x", "a malformed GUID is looked for, and not found");
    assert_eq!(reason(command.values), Reason::StatusInvalid);
}

#[test]
fn a_status_of_everything_is_read_whole() {
    // Interface 2.8.
    let text = |text: &str| Some(text.to_owned());
    let input = StatusInput {
        status: text("Printing"),
        message: text("Ink is low"),
        temperature: Some(41.5),
        connection_state: text("Online"),
        connection_message: text("12 ms"),
        remaining_inks: vec![cyan()],
        queue_length: Some(QueueLengthInput { area: Some(2.25), ..QueueLengthInput::default() }),
    };
    let status = DeviceStatus {
        device: device(),
        received: at(5),
        status: Status::Printing,
        message: text("Ink is low"),
        temperature: Some(41.5),
        connection_state: Some(ConnectionState::Online),
        connection_message: text("12 ms"),
        remaining_inks: vec![RemainingInk { index: 0.0, name: "Cyan".to_owned(), level: -1.0, max_level: 775.5 }],
        queue_length: QueueLength::Area(2.25),
    };
    assert_eq!(read(input).unwrap(), status);
}

#[test]
fn what_is_not_sent_is_absent() {
    // Decision D5: it doesn't stay as it was before.
    let status = read(valid()).unwrap();
    assert_eq!((status.message, status.temperature, status.connection_state), (None, None, None));
    assert_eq!((status.connection_message, status.remaining_inks), (None, Vec::new()));
}

#[test]
fn the_status_is_one_of_seven_words_without_case() {
    // Decision D2.
    let with = |status: Option<&str>| read(StatusInput { status: status.map(str::to_owned), ..valid() });
    for status in Status::ALL {
        for sent in [status.as_str().to_owned(), status.as_str().to_uppercase(), status.as_str().to_lowercase()] {
            assert_eq!(with(Some(&sent)).unwrap().status, *status);
        }
    }
    for wrong in [None, Some(""), Some("Idle "), Some("Busy"), Some("Prıntıng"), Some("1"), Some("[\"Idle\"]")] {
        assert_eq!(reason(with(wrong)), Reason::StatusInvalid, "{wrong:?}");
    }
    assert_eq!(detail(with(None)), "Status is missing", "decision R11");
}

#[test]
fn the_connection_state_is_one_of_three_words_when_it_is_given() {
    // Decision D4.
    let with = |state: &str| read(StatusInput { connection_state: Some(state.to_owned()), ..valid() });
    for state in ConnectionState::ALL {
        assert_eq!(with(&state.as_str().to_uppercase()).unwrap().connection_state, Some(*state));
    }
    for wrong in ["", "Idle", "0", "false", "[]", "{}"] {
        assert_eq!(reason(with(wrong)), Reason::ConnectionStateInvalid, "{wrong}");
    }
}

#[test]
fn a_temperature_is_a_finite_number() {
    // Decision D4.
    let with = |degrees: f64| read(StatusInput { temperature: Some(degrees), ..valid() });
    for degrees in [41.0, -273.15, 0.0] {
        assert_eq!(with(degrees).unwrap().temperature, Some(degrees));
    }
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(reason(with(wrong)), Reason::TemperatureInvalid, "{wrong}");
    }
}

#[test]
fn messages_are_texts_stored_as_they_are() {
    // Decision R9.
    let text = Some(" a\0 ".to_owned());
    let status = read(StatusInput { message: text.clone(), connection_message: text, ..valid() }).unwrap();
    assert_eq!(status.message.as_deref(), Some(" a\u{FFFD} "));
    assert_eq!(status.connection_message.as_deref(), Some(" a\u{FFFD} "));
}

#[test]
fn each_ink_carries_its_four_members() {
    // Decision D4.
    let lacking = [
        RemainingInkInput { index: None, ..cyan() },
        RemainingInkInput { index: Some(f64::NAN), ..cyan() },
        RemainingInkInput { name: None, ..cyan() },
        RemainingInkInput { level: None, ..cyan() },
        RemainingInkInput { level: Some(f64::INFINITY), ..cyan() },
        RemainingInkInput { max_level: None, ..cyan() },
    ];
    for ink in lacking {
        let with = || read(StatusInput { remaining_inks: vec![cyan(), ink.clone()], ..valid() });
        assert_eq!(reason(with()), Reason::RemainingInksInvalid, "{ink:?}");
        assert!(detail(with()).starts_with("item 1 of RemainingInks: "), "decision R11");
    }
}

#[test]
fn an_ink_with_an_empty_name_is_kept() {
    // Decision D4: its level is known all the same.
    let ink = RemainingInkInput { name: Some(String::new()), ..cyan() };
    let status = read(StatusInput { remaining_inks: vec![ink], ..valid() }).unwrap();
    assert_eq!(status.remaining_inks[0].name, "");
}

proptest! {
    /// Decision D4: whatever is accepted is finite.
    #[test]
    fn any_values_are_taken_or_refused(
        status in prop::option::of("Idle|\\PC{0,9}"),
        state in prop::option::of("Online|\\PC{0,9}"),
        temperature in any::<Option<f64>>(),
        ink in (any::<Option<f64>>(), prop::option::of("\\PC{0,9}"), any::<Option<f64>>(), any::<Option<f64>>()),
    ) {
        let (index, name, level, max_level) = ink;
        let remaining_inks = vec![RemainingInkInput { index, name, level, max_level }];
        let input = StatusInput { status, connection_state: state, temperature, remaining_inks, ..valid() };
        if let Ok(status) = read(input) {
            prop_assert!(status.temperature.is_none_or(f64::is_finite));
            let numbers = |ink: &RemainingInk| [ink.index, ink.level, ink.max_level].into_iter().all(f64::is_finite);
            prop_assert!(status.remaining_inks.iter().all(numbers));
        }
    }
}
