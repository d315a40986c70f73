//! Values that are one text: filters, points in time, GUIDs.

use crate::split_first;
use domain::guid::ResourceGuid;
use domain::log_entry::Pattern;
use domain::text::Folded;
use domain::timestamp::Timestamp;
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};
use uuid::Uuid;

/// The first byte says where the rest is split into a pattern and a value; both are read as points in time and GUIDs
/// too.
pub fn text(input: &[u8]) {
    let (place, rest) = split_first(input);
    let rest = String::from_utf8_lossy(rest);
    let place = rest.char_indices().map(|(place, _)| place).nth(place).unwrap_or(rest.len());
    let (pattern, value) = rest.split_at(place);
    for text in [pattern, value] {
        moment(text);
        date(text);
        guid(text);
    }
    matching(pattern, value);
    matching(value, value);
}

/// Decisions T2, T3: years 1 to 9999 in UTC.
fn moment(text: &str) {
    let read = Timestamp::parse(text);
    // The separator of the standard is a T; the other forms are our own.
    let standard =
        OffsetDateTime::parse(text, &Rfc3339).ok().filter(|_| text.as_bytes()[10].eq_ignore_ascii_case(&b'T'));
    let in_utc = standard.and_then(|standard| standard.checked_to_offset(UtcOffset::UTC));
    if let Some(standard) = in_utc.filter(|standard| (1..=9999).contains(&standard.year())) {
        let micros = standard.unix_timestamp_nanos().div_euclid(1000);
        assert_eq!(read.map(|read| i128::from(read.as_micros())), Some(micros), "{text}");
    }
    let Some(moment) = read else {
        return;
    };
    assert_eq!(Timestamp::parse(&moment.precise()), Some(moment), "{text}");
    let whole = Timestamp::parse(&moment.to_string());
    assert_eq!(whole.map(Timestamp::whole_seconds), Some(moment.whole_seconds()), "{text}");
    assert_eq!(whole.map(|whole| whole.to_string()), Some(moment.to_string()), "{text}");
}

/// A date of HTTP is written as it is read.
fn date(text: &str) {
    if let Some((moment, written)) = http_actix::fuzzing::date(text) {
        assert_eq!(http_actix::fuzzing::date(&written), Some((moment, written.clone())), "{text}");
    }
}

/// Decision R7.
fn guid(text: &str) {
    let read = ResourceGuid::parse(text);
    if let Ok(usual) = Uuid::parse_str(text) {
        assert_eq!(read, Some(ResourceGuid::from(usual)), "{text}");
    }
    let Some(guid) = read else {
        return;
    };
    let shown = guid.to_string();
    let forms = [shown.to_uppercase(), shown.replace('-', ""), format!("{{{shown}}}"), format!(" {shown} ")];
    for form in forms {
        assert_eq!(ResourceGuid::parse(&form), Some(guid), "{form}");
    }
}

/// Decision L5.
fn matching(pattern: &str, value: &str) {
    let folded = Folded::of(value);
    assert!(Pattern::new("*").matches(&folded));
    assert!(Pattern::new(value).matches(&folded), "{value:?} doesn't match itself");
    let rule: Vec<char> = Folded::of(pattern).as_str().chars().collect();
    let letters: Vec<char> = folded.as_str().chars().collect();
    assert_eq!(Pattern::new(pattern).matches(&folded), matches_naively(&rule, &letters), "{pattern:?} {value:?}");
}

/// The rule as it is worded: which beginnings of the value each beginning of the pattern matches.
fn matches_naively(pattern: &[char], value: &[char]) -> bool {
    let mut ends = vec![false; value.len() + 1];
    ends[0] = true;
    for letter in pattern {
        if *letter == '*' {
            let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
            ends[first..].fill(true);
        } else {
            for end in (0..value.len()).rev() {
                ends[end + 1] = ends[end] && value[end] == *letter;
            }
            ends[0] = false;
        }
    }
    ends[value.len()]
}
