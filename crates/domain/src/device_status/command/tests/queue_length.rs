//! The member QueueLength, as clients of every make send it (decision D3).

use crate::device_status::QueueLength;
use crate::error::{Outcome, Reason};
use crate::json::Json;
use crate::sample::{any_json, any_leaf, detail, json, object, reason};
use proptest::prelude::*;

fn read(value: &str) -> Outcome<QueueLength> {
    QueueLength::read(Some(&json(value)))
}

#[test]
fn one_member_is_taken_as_it_is() {
    assert_eq!(read(r#"{"Length":12.5}"#).unwrap(), QueueLength::Length(12.5));
    assert_eq!(read(r#"{"area":"0.25"}"#).unwrap(), QueueLength::Area(0.25));
    assert_eq!(read(r#"{"SHEETS":1e3}"#).unwrap(), QueueLength::Sheets(1000));
    assert_eq!(read(r#"{"Sheets":"7.0","Other":"x"}"#).unwrap(), QueueLength::Sheets(7));
    assert_eq!(read(r#"{"Sheets":0}"#).unwrap(), QueueLength::Sheets(0), "an empty queue of sheets");
    assert_eq!(read(r#"{"Area":0.0,"Length":null}"#).unwrap(), QueueLength::Area(0.0));
}

#[test]
fn zeros_beside_one_positive_member_count_as_absent() {
    assert_eq!(read(r#"{"Length":0,"Area":0,"Sheets":3}"#).unwrap(), QueueLength::Sheets(3));
    assert_eq!(read(r#"{"Length":0.0,"Area":1.5,"Sheets":0}"#).unwrap(), QueueLength::Area(1.5));
    assert_eq!(read(r#"{"Length":"2","Area":"0","Sheets":null}"#).unwrap(), QueueLength::Length(2.0));
}

#[test]
fn all_zeros_are_length_zero() {
    for zeros in [r#"{"Length":0,"Area":0,"Sheets":0}"#, r#"{"Area":0,"Sheets":0}"#, r#"{"Sheets":"0","Length":-0}"#] {
        let QueueLength::Length(length) = read(zeros).unwrap() else {
            panic!("{zeros} is no Length");
        };
        assert!(length == 0.0 && length.is_sign_positive());
    }
    let QueueLength::Length(length) = read(r#"{"Length":-0.0}"#).unwrap() else {
        panic!("a Length is no Length");
    };
    assert!(length.is_sign_positive(), "it is answered as 0, never as -0");
}

#[test]
fn none_or_several_positive_members_are_refused() {
    assert_eq!(reason(QueueLength::read(None)), Reason::QueueLengthInvalid);
    let wrong = [
        "null",
        "5",
        "\"5\"",
        "true",
        "[]",
        "[{\"Length\":5}]",
        "{}",
        "{\"Length\":null}",
        "{\"Other\":1}",
        "{\"Length\":1,\"Area\":1}",
        "{\"Length\":1,\"Area\":1,\"Sheets\":1}",
        "{\"Length\":0,\"Area\":0.1,\"Sheets\":1}",
    ];
    for value in wrong {
        assert_eq!(reason(read(value)), Reason::QueueLengthInvalid, "{value}");
    }
    assert!(detail(read("{\"Length\":1,\"Area\":1}")).contains("several"), "decision R11");
}

#[test]
fn what_is_no_measure_is_refused_even_beside_a_good_one() {
    for wrong in ["-1", "-0.001", "1e999", "\"NaN\"", "\"inf\"", "\"\"", "\"x\"", "true", "[]", "{}"] {
        for name in ["Length", "Area", "Sheets"] {
            let alone = format!("{{\"{name}\":{wrong}}}");
            assert_eq!(reason(read(&alone)), Reason::QueueLengthInvalid, "{alone}");
            let other = if name == "Area" { "Length" } else { "Area" };
            let beside = format!("{{\"{other}\":1,\"{name}\":{wrong}}}");
            assert_eq!(reason(read(&beside)), Reason::QueueLengthInvalid, "{beside}");
        }
    }
}

#[test]
fn sheets_are_whole() {
    for wrong in ["0.5", "\"1.5\"", "1e-3", "1e30"] {
        assert_eq!(reason(read(&format!("{{\"Sheets\":{wrong}}}"))), Reason::QueueLengthInvalid, "{wrong}");
    }
    assert_eq!(read(r#"{"Sheets":9007199254740992}"#).unwrap(), QueueLength::Sheets(1 << 53));
}

/// Decision D3, read literally, for members that are numbers.
fn expected(length: Option<f64>, area: Option<f64>, sheets: Option<f64>) -> Option<QueueLength> {
    let given: Vec<f64> = [length, area, sheets].into_iter().flatten().collect();
    if given.iter().any(|number| *number < 0.0) || sheets.is_some_and(|sheets| sheets.fract() != 0.0) {
        return None;
    }
    let positive = |number: Option<f64>| number.filter(|number| *number > 0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the numbers are small and positive")]
    let count = |sheets: f64| sheets as u64;
    match (positive(length), positive(area), positive(sheets)) {
        (Some(length), None, None) => Some(QueueLength::Length(length)),
        (None, Some(area), None) => Some(QueueLength::Area(area)),
        (None, None, Some(sheets)) => Some(QueueLength::Sheets(count(sheets))),
        (None, None, None) => match (length, area, sheets) {
            (None, None, None) => None,
            (None, Some(_), None) => Some(QueueLength::Area(0.0)),
            (None, None, Some(_)) => Some(QueueLength::Sheets(0)),
            _ => Some(QueueLength::Length(0.0)),
        },
        _ => None,
    }
}

fn measure() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        Just(Some(0.0)),
        (0..100_u32).prop_map(|number| Some(f64::from(number))),
        (-3.0..100.0_f64).prop_map(Some),
    ]
}

proptest! {
    #[test]
    fn any_numbers_are_read_as_the_decision_says(
        (length, area, sheets) in (measure(), measure(), measure()),
        as_texts in any::<bool>(),
    ) {
        let value = |number: f64| {
            if as_texts { Json::Text(number.to_string()) } else { Json::Number(number.to_string()) }
        };
        let members = [("Length", length), ("Area", area), ("Sheets", sheets)];
        let sent: Vec<_> = members.iter().map(|(name, number)| (*name, number.map_or(Json::Null, value))).collect();
        let read = QueueLength::read(Some(&object(&sent)));
        if let Some(expected) = expected(length, area, sheets) {
            prop_assert_eq!(read.unwrap(), expected);
        } else {
            prop_assert_eq!(reason(read), Reason::QueueLengthInvalid);
        }
    }

    #[test]
    fn any_json_is_a_measure_or_refused(
        value in prop_oneof![any_leaf(), any_json(&["Length", "Area", "Sheets"])],
    ) {
        match QueueLength::read(Some(&value)) {
            Ok(QueueLength::Length(number) | QueueLength::Area(number)) => {
                prop_assert!(number.is_finite() && number.is_sign_positive());
            }
            Ok(QueueLength::Sheets(_)) => {}
            refused => prop_assert_eq!(reason(refused), Reason::QueueLengthInvalid),
        }
    }
}
