//! What of a file a request asks for: all, a range, or nothing because the client has it (decision T17).

use crate::http_date;
use actix_web::http::header::{self, HeaderMap, HeaderName};
use domain::timestamp::Timestamp;
use std::ops::Range;

/// What tells one state of a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Validators {
    /// The quoted checksum.
    pub(crate) etag: String,
    pub(crate) modified: Timestamp,
    /// Bytes.
    pub(crate) size: u64,
}

/// What to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Part(Range<u64>),
    /// 304: the client has this state.
    NotModified,
    /// 416: the range lies outside.
    Unsatisfiable,
}

/// Decides by the headers of a request. Ranges are defined for GET only.
pub(crate) fn decide(headers: &HeaderMap, is_get: bool, file: &Validators) -> Delivery {
    if is_known(headers, file) {
        return Delivery::NotModified;
    }
    if !is_get || !range_applies(headers, file) {
        return Delivery::Whole;
    }
    requested_part(headers, file.size).unwrap_or(Delivery::Whole)
}

/// Whether the client has this state already; If-None-Match takes precedence.
fn is_known(headers: &HeaderMap, file: &Validators) -> bool {
    if headers.contains_key(header::IF_NONE_MATCH) {
        let tags = texts(headers, &header::IF_NONE_MATCH).flat_map(|list| list.split(',')).map(str::trim);
        // The comparison is weak: the mark of a weak tag doesn't matter.
        return tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag)).any(|tag| tag == "*" || tag == file.etag);
    }
    let since = text(headers, &header::IF_MODIFIED_SINCE).and_then(http_date::parse);
    // With the whole Timestamp: a fraction of a second makes a file newer than the date that is cut.
    since.is_some_and(|since| file.modified <= since)
}

/// Whether If-Range allows a part: only the very state that the client has parts of.
fn range_applies(headers: &HeaderMap, file: &Validators) -> bool {
    match text(headers, &header::IF_RANGE) {
        None => !headers.contains_key(header::IF_RANGE),
        Some(tag) if tag.contains('"') => tag == file.etag,
        // A date has whole seconds: equal to the whole Timestamp it names one state only.
        Some(date) => http_date::parse(date) == Some(file.modified),
    }
}

/// What the range asked for gets; `None` if there is none that counts.
fn requested_part(headers: &HeaderMap, size: u64) -> Option<Delivery> {
    let ranges = text(headers, &header::RANGE)?;
    let (unit, ranges) = ranges.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let mut ranges = ranges.split(',').map(str::trim).filter(|range| !range.is_empty());
    let (first, last) = ranges.next()?.split_once('-')?;
    if ranges.next().is_some() {
        return None;
    }
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() {
        let length = parse_number(last)?.min(size);
        return Some(part(size - length..size));
    }
    let first = parse_number(first)?;
    let end = match last {
        "" => size,
        last => {
            let last = parse_number(last)?;
            if last < first {
                return None;
            }
            last.saturating_add(1).min(size)
        }
    };
    Some(part(first..end))
}

fn part(range: Range<u64>) -> Delivery {
    if range.is_empty() { Delivery::Unsatisfiable } else { Delivery::Part(range) }
}

/// A number of digits only; one that is too large counts as the largest.
fn parse_number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// The header's text if it is there once.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = texts(headers, name);
    values.next().filter(|_| values.next().is_none())
}

fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> + use<'a> {
    headers.get_all(name).filter_map(|value| value.to_str().ok()).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    const ETAG: &str = "\"AAAA\"";

    fn file(modified: &str) -> Validators {
        Validators { etag: ETAG.to_owned(), modified: Timestamp::parse(modified).unwrap(), size: 1000 }
    }

    fn decided(headers: &[(HeaderName, &str)], modified: &str) -> Delivery {
        decide(&map(headers), true, &file(modified))
    }

    fn map(headers: &[(HeaderName, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn ranged(range: &str) -> Delivery {
        decided(&[(header::RANGE, range)], "2026-01-01T00:00:00Z")
    }

    #[test]
    fn one_range_is_served() {
        // Decision T17.
        let expected = [
            ("bytes=0-99", Delivery::Part(0..100)),
            ("bytes=990-", Delivery::Part(990..1000)),
            ("bytes=-10", Delivery::Part(990..1000)),
            ("bytes=-5000", Delivery::Part(0..1000)),
            ("Bytes = 5 - 5 ,", Delivery::Part(5..6)),
            ("bytes=0-99999999999999999999999", Delivery::Part(0..1000)),
            ("bytes=1000-", Delivery::Unsatisfiable),
            ("bytes=99999999999999999999999-", Delivery::Unsatisfiable),
            ("bytes=-0", Delivery::Unsatisfiable),
        ];
        for (range, delivery) in expected {
            assert_eq!(ranged(range), delivery, "{range}");
        }
    }

    #[test]
    fn several_or_malformed_ranges_are_ignored() {
        for range in ["bytes=0-1,5-6", "bytes=5-1", "bytes=a-b", "bytes=", "bytes=-", "items=0-1", "0-1", "bytes=+1-2"]
        {
            assert_eq!(ranged(range), Delivery::Whole, "{range}");
        }
        let twice = [(header::RANGE, "bytes=0-1"), (header::RANGE, "bytes=0-1")];
        assert_eq!(decided(&twice, "2026-01-01T00:00:00Z"), Delivery::Whole);
    }

    #[test]
    fn an_empty_file_has_no_range() {
        let empty = Validators { size: 0, ..file("2026-01-01T00:00:00Z") };
        for range in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
            assert_eq!(decide(&map(&[(header::RANGE, range)]), true, &empty), Delivery::Unsatisfiable, "{range}");
        }
    }

    #[test]
    fn a_head_request_has_no_range() {
        let headers = map(&[(header::RANGE, "bytes=5000-")]);
        assert_eq!(decide(&headers, false, &file("2026-01-01T00:00:00Z")), Delivery::Whole);
    }

    #[test]
    fn if_range_demands_the_very_state() {
        let with = |if_range: &str, modified: &str| {
            decided(&[(header::RANGE, "bytes=0-0"), (header::IF_RANGE, if_range)], modified)
        };
        let date = "Thu, 01 Jan 2026 00:00:00 GMT";
        assert_eq!(with(ETAG, "2026-01-01T00:00:00Z"), Delivery::Part(0..1));
        assert_eq!(with("W/\"AAAA\"", "2026-01-01T00:00:00Z"), Delivery::Whole);
        assert_eq!(with("\"BBBB\"", "2026-01-01T00:00:00Z"), Delivery::Whole);
        assert_eq!(with(date, "2026-01-01T00:00:00Z"), Delivery::Part(0..1));
        assert_eq!(with(date, "2026-01-01T00:00:00.5Z"), Delivery::Whole);
        assert_eq!(with("yesterday", "2026-01-01T00:00:00Z"), Delivery::Whole);
    }

    #[test]
    fn if_none_match_is_compared_weakly_and_comes_first() {
        let with = |tags: &str| {
            let late = "Fri, 01 Jan 2027 00:00:00 GMT";
            let headers = [(header::IF_NONE_MATCH, tags), (header::IF_MODIFIED_SINCE, late)];
            decided(&headers, "2026-01-01T00:00:00Z")
        };
        for tags in [ETAG, "*", "W/\"AAAA\"", "\"x\", \"AAAA\""] {
            assert_eq!(with(tags), Delivery::NotModified, "{tags}");
        }
        for tags in ["\"BBBB\"", "", "AAAA"] {
            assert_eq!(with(tags), Delivery::Whole, "{tags}");
        }
    }

    #[test]
    fn a_fraction_never_hides_a_change() {
        let since = |modified: &str| decided(&[(header::IF_MODIFIED_SINCE, "Thu, 01 Jan 2026 00:00:00 GMT")], modified);
        assert_eq!(since("2026-01-01T00:00:00Z"), Delivery::NotModified);
        assert_eq!(since("2025-12-31T23:59:59.9Z"), Delivery::NotModified);
        assert_eq!(since("2026-01-01T00:00:00.000001Z"), Delivery::Whole);
        let malformed = [(header::IF_MODIFIED_SINCE, "2026-01-01")];
        assert_eq!(decided(&malformed, "2026-01-01T00:00:00Z"), Delivery::Whole);
    }

    proptest! {
        #[test]
        fn a_part_lies_within_the_file(size in 0_u64..5000, first in 0_u64..6000, length in 0_u64..6000) {
            let headers = map(&[(header::RANGE, &format!("bytes={first}-{}", first + length))]);
            let file = Validators { size, ..file("2026-01-01T00:00:00Z") };
            match decide(&headers, true, &file) {
                Delivery::Part(range) => {
                    prop_assert_eq!(range.start, first);
                    prop_assert_eq!(range.end, size.min(first + length + 1));
                    prop_assert!(range.start < range.end);
                }
                delivery => {
                    prop_assert_eq!(delivery, Delivery::Unsatisfiable);
                    prop_assert!(first >= size);
                }
            }
        }

        #[test]
        fn no_header_panics(range in "[ -~]{0,30}", if_range in "[ -~]{0,30}") {
            decided(&[(header::RANGE, &range), (header::IF_RANGE, &if_range)], "2026-01-01T00:00:00Z");
        }
    }
}
