//! Decisions T2 and T3.

use super::*;
use proptest::prelude::*;

/// 2026-01-02T03:04:05Z.
const SECONDS: i64 = 1_767_323_045;

fn micros(text: &str) -> Option<i64> {
    Timestamp::parse(text).map(Timestamp::as_micros)
}

/// Decision T2.
#[test]
fn every_form_is_one_point_in_time() {
    let forms = [
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05z",
        "2026-01-02 03:04:05Z",
        "2026-01-02T03:04:05",
        "2026-01-02 03:04:05",
        "2026-01-02T03:04:05.0Z",
        "2026-01-02T03:04:05,000Z",
        "2026-01-02T05:04:05+02:00",
        "2026-01-02T05:04:05+0200",
        "2026-01-02T05:04:05+02",
        "2026-01-01T22:34:05-04:30",
        "2026-01-02T03:04:05-00:00",
        "2026-01-03T03:03:05+23:59",
    ];
    for form in forms {
        assert_eq!(micros(form), Some(SECONDS * 1_000_000), "{form}");
    }
}

/// Decision T2: optional seconds, with and without a zone.
#[test]
fn seconds_may_be_left_out() {
    for form in ["2026-01-02T03:04Z", "2026-01-02 03:04", "2026-01-02T05:04+02:00", "2026-01-02T05:04+02"] {
        assert_eq!(micros(form), Some((SECONDS - 5) * 1_000_000), "{form}");
    }
}

/// Decision T3: cut to the microsecond, not rounded.
#[test]
fn a_fraction_is_cut_to_the_microsecond() {
    let fractions = [
        (".5", 500_000),
        (",25", 250_000),
        (".123456", 123_456),
        (".1234569", 123_456),
        (".999999999999999999999999999999", 999_999),
        (".0000001", 0),
        (".000001", 1),
    ];
    for (fraction, expected) in fractions {
        let text = format!("2026-01-02T03:04:05{fraction}Z");
        assert_eq!(micros(&text), Some(SECONDS * 1_000_000 + expected), "{text}");
    }
}

/// Decision T3: answers cut the fraction off, before 1970 too.
#[test]
fn answers_have_whole_seconds() {
    let answers = [
        ("2026-01-02T03:04:05.999999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59Z"),
        ("0001-01-01T00:00:00.5Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59Z"),
        ("0999-01-01T00:00:00Z", "0999-01-01T00:00:00Z"),
    ];
    for (sent, answered) in answers {
        assert_eq!(Timestamp::parse(sent).map(|timestamp| timestamp.to_string()).as_deref(), Some(answered));
    }
}

/// RFC 3339 allows a leap second; it stays within its minute, so that the order of times is kept.
#[test]
fn a_leap_second_is_the_last_microsecond_of_its_minute() {
    let last = micros("2016-12-31T23:59:59.999999Z");
    assert!(last.is_some());
    assert_eq!(micros("2016-12-31T23:59:60Z"), last);
    assert_eq!(micros("2017-01-01T00:59:60.5+01:00"), last);
    assert_eq!(micros("2016-12-31T23:59:61Z"), None);
}

/// Decision T2: anything else is refused; it is never read as something near it.
#[test]
fn anything_else_is_refused() {
    let malformed = [
        "",
        " ",
        "now",
        // A date or a time alone.
        "2026-01-02",
        "2026-01-02T",
        "2026-01-02Z",
        "03:04:05Z",
        "2026-01-02T03",
        "2026-01-02T03Z",
        // The basic form, wholly or in part.
        "20260102T030405Z",
        "20260102T03:04:05Z",
        "2026-01-02T030405Z",
        "2026-01-02T0304Z",
        // Week dates and day numbers.
        "2026-W01-5T03:04:05Z",
        "2026-002T03:04:05Z",
        // Years of other lengths, signs.
        "26-01-02T03:04:05Z",
        "02026-01-02T03:04:05Z",
        "+2026-01-02T03:04:05Z",
        "-001-01-02T03:04:05Z",
        // What no calendar or clock shows.
        "2026-00-02T03:04:05Z",
        "2026-13-02T03:04:05Z",
        "2026-01-00T03:04:05Z",
        "2026-01-32T03:04:05Z",
        "2026-02-29T03:04:05Z",
        "1900-02-29T03:04:05Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T25:04:05Z",
        "2026-01-02T03:60:05Z",
        "2026-01-02T03:04:61Z",
        // Fractions of other units, or without digits.
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.",
        "2026-01-02T03:04.5Z",
        "2026-01-02T03:04:05.1.2Z",
        // Offsets.
        "2026-01-02T03:04:05+",
        "2026-01-02T03:04:05+2",
        "2026-01-02T03:04:05+2:00",
        "2026-01-02T03:04:05+02:",
        "2026-01-02T03:04:05+02:0",
        "2026-01-02T03:04:05+020",
        "2026-01-02T03:04:05+02000",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+02:60",
        "2026-01-02T03:04:05 +02:00",
        "2026-01-02T03:04:05Z+02:00",
        "2026-01-02T03:04:05ZZ",
        "2026-01-02T03:04:05UTC",
        "2026-01-02T03:04:05 GMT",
        "2026-01-02T03:04:05\u{2212}02:00",
        // Other separators, blanks, other digits.
        "2026/01/02T03:04:05Z",
        "2026-1-2T03:04:05Z",
        "2026-01-02T3:04:05Z",
        "2026-01-02_03:04:05Z",
        "2026-01-02  03:04:05Z",
        " 2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05Z ",
        "2026-01-02T03:04:05Z\0",
        "2026-01-02T03:04:0\u{665}Z",
        "1767323045",
        "Fri, 02 Jan 2026 03:04:05 GMT",
        // Beyond the years 1 to 9999 once it is UTC.
        "0000-12-31T23:59:59Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "10000-01-01T00:00:00Z",
    ];
    for text in malformed {
        assert_eq!(Timestamp::parse(text), None, "{text:?}");
    }
}

/// The ends of the range can be written with an offset, too.
#[test]
fn the_first_and_the_last_point_are_read() {
    let first = micros("0001-01-01T00:00:00Z");
    assert!(first.is_some());
    assert_eq!(micros("0001-01-01T02:00:00+02:00"), first);
    assert!(micros("9999-12-31T23:59:59.999999Z").is_some());
    assert_eq!(micros("9999-12-31T22:59:59-01:00"), micros("9999-12-31T23:59:59Z"));
    assert!(micros("2024-02-29T00:00:00Z").is_some());
    assert!(micros("2000-02-29T00:00:00Z").is_some());
}

/// Clocks that are far off don't overflow.
#[test]
fn moving_a_point_saturates() {
    let point = Timestamp::from_micros(5);
    assert_eq!(point.plus(Duration::from_micros(2)), Timestamp::from_micros(7));
    assert_eq!(point.minus(Duration::from_micros(7)), Timestamp::from_micros(-2));
    assert_eq!(point.plus(Duration::MAX), Timestamp::from_micros(i64::MAX));
    assert_eq!(Timestamp::from_micros(i64::MIN + 1).minus(Duration::MAX), Timestamp::from_micros(i64::MIN));
    // Even a point that no calendar reaches can be shown.
    assert!(!point.plus(Duration::MAX).to_string().is_empty());
}

proptest! {
    /// Decisions T2, T3: whatever the form, the microsecond is the one that was written.
    #[test]
    fn a_point_comes_back_from_each_of_its_forms(
        micros in -62_135_596_800_000_000_i64..=253_402_300_799_999_999,
        offset in -23 * 60 - 59..=23 * 60 + 59_i64,
        zone in 0..3_usize,
        separator in "[Tt ]",
        point in "[.,]",
    ) {
        // Without minutes the offset is whole hours; the local time has to stay within the calendar.
        let offset = if zone == 2 { offset / 60 * 60 } else { offset };
        let local = Timestamp::from_micros(micros + offset * 60_000_000).to_string();
        prop_assume!(local.len() == 20 && Timestamp::parse(&local).is_some());
        prop_assume!((-62_167_219_200_000_000..=253_402_300_799_999_999).contains(&(micros + offset * 60_000_000)));
        let (date, time) = (&local[..10], &local[11..19]);
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
        let zone = [format!("{hours:02}:{minutes:02}"), format!("{hours:02}{minutes:02}"), format!("{hours:02}")][zone].clone();
        let fraction = micros.rem_euclid(1_000_000);
        let written = format!("{date}{separator}{time}{point}{fraction:06}{sign}{zone}");
        prop_assert_eq!(Timestamp::parse(&written), Some(Timestamp::from_micros(micros)), "{}", written);
    }

    /// What is answered is read as the same second, and the order of points is that of their texts.
    #[test]
    fn answers_are_read_again_and_sort(
        one in -62_135_596_800_i64..=253_402_300_799,
        other in -62_135_596_800_i64..=253_402_300_799,
    ) {
        let [one, other] = [one, other].map(|seconds| Timestamp::from_micros(seconds * 1_000_000));
        prop_assert_eq!(Timestamp::parse(&one.to_string()), Some(one));
        prop_assert_eq!(one.to_string().cmp(&other.to_string()), one.cmp(&other));
    }

    /// Nothing panics, and what is read can be answered.
    #[test]
    fn any_text_is_read_or_refused(
        text in "\\PC*|[-+0-9TtZz:., ]{0,40}|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{0,12})?)?([Zz]|[-+][0-9]{2}(:?[0-9]{2})?)?",
    ) {
        if let Some(read) = Timestamp::parse(&text) {
            let answered = read.to_string();
            prop_assert_eq!(answered.len(), 20);
            prop_assert_eq!(Timestamp::parse(&answered).map(Timestamp::whole_seconds), Some(read.whole_seconds()));
        }
    }
}
