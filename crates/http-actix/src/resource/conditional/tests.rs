//! Which part of a file a request gets (decision T17).

use super::*;
use actix_web::http::header::{HeaderName, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE};
use actix_web::test::TestRequest;
use proptest::prelude::*;

/// The checksum of the file; other tags are none of its.
const SUM: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const TAG: &str = "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"";
const WEAK_TAG: &str = "W/\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"";
const LISTED_TAG: &str = "\"x\", \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"";
const OTHER_TAG: &str = "\"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\"";

const NEW_YEAR: &str = "2026-01-01T00:00:00Z";

fn file(modified: &str) -> Validators {
    Validators {
        checksum: Sha1Checksum::parse(SUM).unwrap(),
        modified: Timestamp::parse(modified).unwrap(),
        size: 1000,
    }
}

/// What is answered; the error as its status.
fn decided_for(method: Method, headers: &[(HeaderName, &str)], file: &Validators) -> Result<Delivery, u16> {
    let request = TestRequest::default().method(method);
    let request = headers.iter().fold(request, |request, header| request.append_header((header.0.clone(), header.1)));
    let now = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
    let limits = Limits { max_timestamp_ahead: Some(Duration::from_hours(24)), ..Limits::default() };
    decide(&request.to_http_request(), file, now, &limits).map_err(|error| error.status().as_u16())
}

fn decided(headers: &[(HeaderName, &str)], modified: &str) -> Result<Delivery, u16> {
    decided_for(Method::GET, headers, &file(modified))
}

fn ranged(range: &str) -> Result<Delivery, u16> {
    decided(&[(RANGE, range)], NEW_YEAR)
}

#[test]
fn one_range_is_served() {
    // Decision T17.
    let expected = [
        ("bytes=0-99", Ok(Delivery::Part(0..100))),
        ("bytes=990-", Ok(Delivery::Part(990..1000))),
        ("bytes=-10", Ok(Delivery::Part(990..1000))),
        ("bytes=-5000", Ok(Delivery::Part(0..1000))),
        ("bytes=5-5", Ok(Delivery::Part(5..6))),
        ("bytes=0-999999999999", Ok(Delivery::Part(0..1000))),
        ("BYTES=0-99", Ok(Delivery::Part(0..100))),
        ("Bytes = 0-99 ", Ok(Delivery::Part(0..100))),
        ("bytes=0-99999999999999999999", Ok(Delivery::Part(0..1000))),
        ("bytes=-99999999999999999999", Ok(Delivery::Part(0..1000))),
        ("bytes=99999999999999999998-99999999999999999999", Err(416)),
        ("bytes=99999999999999999999-", Err(416)),
        ("bytes=1000-", Err(416)),
        ("bytes=-0", Err(416)),
    ];
    for (range, delivery) in expected {
        assert_eq!(ranged(range), delivery, "{range}");
    }
}

#[test]
fn several_or_malformed_ranges_are_ignored() {
    for range in ["bytes=0-1,5-6", "bytes=5-1", "bytes=a-b", "bytes=", "bytes=-", "items=0-1", "0-1", "bytes=0-1,x"] {
        assert_eq!(ranged(range), Ok(Delivery::Whole), "{range}");
    }
    for range in ["bytes=+1-3", "bytes=1-+3", "bytes=-+3", "bytes=0x1-3", "bytes=1 - 3", "bytes=1-3-", "bytes=--3"] {
        assert_eq!(ranged(range), Ok(Delivery::Whole), "{range}");
    }
    let twice = [(RANGE, "bytes=0-1"), (RANGE, "bytes=0-1")];
    assert_eq!(decided(&twice, NEW_YEAR), Ok(Delivery::Whole));
}

#[test]
fn an_empty_file_ignores_a_range() {
    // Decision T17.
    let empty = Validators { size: 0, ..file(NEW_YEAR) };
    for range in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
        assert_eq!(decided_for(Method::GET, &[(RANGE, range)], &empty), Ok(Delivery::Whole), "{range}");
    }
}

#[test]
fn a_head_request_has_no_range() {
    let headers = [(RANGE, "bytes=5000-")];
    assert_eq!(decided_for(Method::HEAD, &headers, &file(NEW_YEAR)), Ok(Delivery::Whole));
}

#[test]
fn if_range_demands_the_very_state() {
    let with = |if_range: &str, modified: &str| decided(&[(RANGE, "bytes=0-0"), (IF_RANGE, if_range)], modified);
    let date = "Thu, 01 Jan 2026 00:00:00 GMT";
    assert_eq!(with(TAG, NEW_YEAR), Ok(Delivery::Part(0..1)));
    assert_eq!(with(WEAK_TAG, NEW_YEAR), Ok(Delivery::Whole));
    assert_eq!(with(OTHER_TAG, NEW_YEAR), Ok(Delivery::Whole));
    assert_eq!(with(date, NEW_YEAR), Ok(Delivery::Part(0..1)));
    assert_eq!(with(date, "2026-01-01T00:00:00.5Z"), Ok(Delivery::Whole));
    assert_eq!(with("yesterday", NEW_YEAR), Ok(Delivery::Whole));
}

#[test]
fn if_none_match_is_compared_weakly_and_comes_first() {
    let with =
        |tags: &str| decided(&[(IF_NONE_MATCH, tags), (IF_MODIFIED_SINCE, "Fri, 01 Jan 2027 00:00:00 GMT")], NEW_YEAR);
    for tags in [TAG, "*", WEAK_TAG, LISTED_TAG] {
        assert_eq!(with(tags), Ok(Delivery::NotModified), "{tags}");
    }
    for tags in [OTHER_TAG, "", SUM] {
        assert_eq!(with(tags), Ok(Delivery::Whole), "{tags}");
    }
}

#[test]
fn if_match_is_compared_strongly_and_comes_before_all() {
    // Decision T17.
    let with = |tags: &str| decided(&[(IF_MATCH, tags), (IF_NONE_MATCH, "*"), (RANGE, "bytes=0-0")], NEW_YEAR);
    for tags in [TAG, "*", LISTED_TAG] {
        assert_eq!(with(tags), Ok(Delivery::NotModified), "{tags}");
    }
    let lower_case = TAG.to_lowercase();
    for tags in [OTHER_TAG, WEAK_TAG, &lower_case, "", SUM] {
        assert_eq!(with(tags), Err(412), "{tags}");
    }
}

#[test]
fn if_unmodified_since_counts_whole_seconds_and_yields_to_if_match() {
    // Decision T17.
    let date = "Thu, 01 Jan 2026 00:00:00 GMT";
    let since = |modified: &str| decided(&[(IF_UNMODIFIED_SINCE, date)], modified);
    assert_eq!(since("2025-12-31T23:59:59Z"), Ok(Delivery::Whole));
    assert_eq!(since("2026-01-01T00:00:00.9Z"), Ok(Delivery::Whole));
    assert_eq!(since("2026-01-01T00:00:01Z"), Err(412));
    assert_eq!(since("2026-06-01T00:00:01Z"), Err(412), "in the future, but stored after the date");
    let recent = [(IF_UNMODIFIED_SINCE, "Sun, 31 May 2026 12:00:00 GMT")];
    assert_eq!(decided(&recent, "2026-06-01T10:00:00Z"), Ok(Delivery::Whole), "in the future");
    let both = [(IF_UNMODIFIED_SINCE, date), (IF_MATCH, TAG)];
    assert_eq!(decided(&both, "2027-01-01T00:00:00Z"), Ok(Delivery::Whole));
    assert_eq!(decided(&[(IF_UNMODIFIED_SINCE, "yesterday")], NEW_YEAR), Ok(Delivery::Whole));
}

#[test]
fn a_fraction_never_hides_a_change() {
    let since = |modified: &str| decided(&[(IF_MODIFIED_SINCE, "Thu, 01 Jan 2026 00:00:00 GMT")], modified);
    assert_eq!(since(NEW_YEAR), Ok(Delivery::NotModified));
    assert_eq!(since("2025-12-31T23:59:59.9Z"), Ok(Delivery::NotModified));
    assert_eq!(since("2026-01-01T00:00:00.000001Z"), Ok(Delivery::Whole));
    assert_eq!(decided(&[(IF_MODIFIED_SINCE, "2026-01-01")], NEW_YEAR), Ok(Delivery::Whole));
}

#[test]
fn all_three_forms_of_a_date_are_read() {
    let moment = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
    for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
        assert_eq!(text.parse().map(timestamp).ok(), Some(moment), "{text}");
    }
}

#[test]
fn a_date_is_written_in_whole_seconds_and_not_before_1970() {
    let shown = |text: &str| http_date(Timestamp::parse(text).unwrap()).to_string();
    assert_eq!(shown("1994-11-06T08:49:37.9Z"), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(shown("0001-01-01T00:00:00Z"), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_eq!(shown("9999-12-31T23:59:59.9Z"), "Fri, 31 Dec 9999 23:59:59 GMT");
}

proptest! {
    #[test]
    fn a_part_lies_within_the_file(size in 1_u64..5000, first in 0_u64..6000, length in 0_u64..6000) {
        let range = format!("bytes={first}-{}", first + length);
        match decided_for(Method::GET, &[(RANGE, &range)], &Validators { size, ..file(NEW_YEAR) }) {
            Ok(Delivery::Part(range)) => {
                prop_assert_eq!(range.start, first);
                prop_assert_eq!(range.end, size.min(first + length + 1));
                prop_assert!(range.start < range.end);
            }
            other => {
                prop_assert_eq!(other, Err(416));
                prop_assert!(first >= size);
            }
        }
    }

    #[test]
    fn a_written_date_is_read_back(seconds in 0_i64..253_402_300_799) {
        let moment = Timestamp::from_micros(seconds * 1_000_000);
        prop_assert_eq!(timestamp(http_date(moment)), moment);
    }

    #[test]
    fn no_header_panics(range in "[ -~]{0,30}", if_range in "[ -~]{0,30}", if_match in "[ -~]{0,30}") {
        let _ = decided(&[(RANGE, &range), (IF_RANGE, &if_range)], NEW_YEAR);
        let _ = decided(&[(IF_MATCH, &if_match), (IF_UNMODIFIED_SINCE, &if_range)], NEW_YEAR);
    }
}
