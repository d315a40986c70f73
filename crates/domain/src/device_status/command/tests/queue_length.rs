//! QueueLength, as clients of every make send it (decision D3).

use crate::device_status::{QueueLength, QueueLengthInput};
use crate::error::{Outcome, Reason};
use crate::sample::{detail, reason};
use proptest::prelude::*;

fn read(
    length: impl Into<Option<f64>>,
    area: impl Into<Option<f64>>,
    sheets: impl Into<Option<f64>>,
) -> Outcome<QueueLength> {
    QueueLength::new(Some(QueueLengthInput { length: length.into(), area: area.into(), sheets: sheets.into() }))
}

#[test]
fn one_member_is_taken_as_it_is() {
    assert_eq!(read(12.5, None, None).unwrap(), QueueLength::Length(12.5));
    assert_eq!(read(None, 0.25, None).unwrap(), QueueLength::Area(0.25));
    assert_eq!(read(None, None, 1e3).unwrap(), QueueLength::Sheets(1000));
    assert_eq!(read(None, None, 0.0).unwrap(), QueueLength::Sheets(0), "an empty queue of sheets");
    assert_eq!(read(None, 0.0, None).unwrap(), QueueLength::Area(0.0));
}

#[test]
fn zeros_beside_one_positive_member_count_as_absent() {
    assert_eq!(read(0.0, 0.0, 3.0).unwrap(), QueueLength::Sheets(3));
    assert_eq!(read(0.0, 1.5, 0.0).unwrap(), QueueLength::Area(1.5));
    assert_eq!(read(2.0, 0.0, None).unwrap(), QueueLength::Length(2.0));
}

#[test]
fn all_zeros_are_length_zero() {
    for zeros in [read(0.0, 0.0, 0.0), read(None, 0.0, 0.0), read(-0.0, None, 0.0)] {
        let QueueLength::Length(length) = zeros.unwrap() else {
            panic!("zeros are no Length");
        };
        assert!(length == 0.0 && length.is_sign_positive());
    }
    let QueueLength::Length(length) = read(-0.0, None, None).unwrap() else {
        panic!("a Length is no Length");
    };
    assert!(length.is_sign_positive(), "it is answered as 0, never as -0");
}

#[test]
fn none_or_several_positive_members_are_refused() {
    assert_eq!(reason(QueueLength::new(None)), Reason::QueueLengthInvalid);
    assert_eq!(reason(read(None, None, None)), Reason::QueueLengthInvalid);
    for several in [read(1.0, 1.0, None), read(1.0, 1.0, 1.0), read(0.0, 0.1, 1.0)] {
        assert!(detail(several).contains("several"), "decision R11");
    }
    assert_eq!(reason(read(1.0, 1.0, None)), Reason::QueueLengthInvalid);
}

#[test]
fn what_is_no_measure_is_refused_even_beside_a_good_one() {
    for wrong in [-1.0, -0.001, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let wrongs = [
            read(wrong, None, None),
            read(None, wrong, None),
            read(None, None, wrong),
            read(wrong, 1.0, None),
            read(1.0, wrong, None),
            read(1.0, None, wrong),
        ];
        for outcome in wrongs {
            assert_eq!(reason(outcome), Reason::QueueLengthInvalid, "{wrong}");
        }
    }
}

#[test]
fn sheets_are_whole() {
    for wrong in [0.5, 1.5, 1e-3, 1e30] {
        assert_eq!(reason(read(None, None, wrong)), Reason::QueueLengthInvalid, "{wrong}");
    }
    assert_eq!(read(None, None, 9_007_199_254_740_992.0).unwrap(), QueueLength::Sheets(1 << 53));
}

/// Decision D3, read literally.
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
    fn any_numbers_are_read_as_the_decision_says((length, area, sheets) in (measure(), measure(), measure())) {
        if let Some(expected) = expected(length, area, sheets) {
            prop_assert_eq!(read(length, area, sheets).unwrap(), expected);
        } else {
            prop_assert_eq!(reason(read(length, area, sheets)), Reason::QueueLengthInvalid);
        }
    }

    #[test]
    fn any_doubles_are_a_measure_or_refused(numbers in any::<[Option<f64>; 3]>()) {
        let [length, area, sheets] = numbers;
        match read(length, area, sheets) {
            Ok(QueueLength::Length(number) | QueueLength::Area(number)) => {
                prop_assert!(number.is_finite() && number.is_sign_positive());
            }
            Ok(QueueLength::Sheets(sheets)) => prop_assert!(sheets <= 1 << 53),
            refused => prop_assert_eq!(reason(refused), Reason::QueueLengthInvalid),
        }
    }
}
