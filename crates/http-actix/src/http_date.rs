//! Dates as HTTP headers write them: whole seconds, in GMT.

use actix_web::http::header::HttpDate;
use domain::timestamp::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes the form that RFC 9110 prefers, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn format(moment: Timestamp) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    // YYYY-MM-DDThh:mm:ssZ
    let iso = moment.to_string();
    let (year, day, time) = (&iso[0..4], &iso[8..10], &iso[11..19]);
    let month = iso[5..7].parse::<usize>().map_or("", |month| MONTHS[month - 1]);
    // 1970-01-01 was a Thursday.
    let days = moment.whole_seconds().div_euclid(24 * 60 * 60);
    let weekday = usize::try_from(days.rem_euclid(7)).map_or("", |place| WEEKDAYS[place]);
    format!("{weekday}, {day} {month} {year} {time} GMT")
}

/// Reads any of the three forms of RFC 9110; `None` for anything else.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let moment = SystemTime::from(text.parse::<HttpDate>().ok()?);
    let seconds = moment.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(Timestamp::from_micros(i64::try_from(seconds).ok()?.checked_mul(1_000_000)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_preferred_form_is_written() {
        let moment = Timestamp::parse("1994-11-06T08:49:37.9Z").unwrap();
        assert_eq!(format(moment), "Sun, 06 Nov 1994 08:49:37 GMT");
        let moment = Timestamp::parse("1969-12-31T23:59:59Z").unwrap();
        assert_eq!(format(moment), "Wed, 31 Dec 1969 23:59:59 GMT");
    }

    #[test]
    fn all_three_forms_are_read() {
        let moment = Timestamp::parse("1994-11-06T08:49:37Z");
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(parse(text), moment, "{text}");
        }
        assert_eq!(parse("1994-11-06T08:49:37Z"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0_i64..253_402_300_799) {
            let moment = Timestamp::from_micros(seconds * 1_000_000);
            prop_assert_eq!(parse(&format(moment)), Some(moment));
        }
    }
}
