//! Values that several commands read or show.

use super::output::Out;
use super::table::{Cell, Column, Screen, Table};
use crate::config;
use crate::wiring;
use anyhow::Result;
use bytesize::ByteSize;
use domain::timestamp::Timestamp;
use std::time::Duration;

/// Reads a duration, such as `1h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    config::duration(text).ok_or_else(|| "allowed is a duration, such as 1h (units ms, s, m, h, d, w)".to_owned())
}

/// Reads the first time of a period: a time in the forms of the interface (decision T2), a day, `today`, or a duration
/// ago. Days begin at midnight UTC.
pub(super) fn from(text: &str) -> Result<Timestamp, String> {
    instant(text, wiring::clock().now(), "00:00:00")
}

/// Reads the last time of a period, in the same forms. A day is included whole.
pub(super) fn to(text: &str) -> Result<Timestamp, String> {
    instant(text, wiring::clock().now(), "23:59:59.999999")
}

fn instant(text: &str, now: Timestamp, time_of_day: &str) -> Result<Timestamp, String> {
    let day = |day: &str| Timestamp::parse(&format!("{day}T{time_of_day}Z"));
    let today = || now.to_string().chars().take(DAY).collect::<String>();
    let instant = match text {
        "today" => day(&today()),
        _ => Timestamp::parse(text).or_else(|| day(text)).or_else(|| config::duration(text).map(|ago| now.minus(ago))),
    };
    let allowed = "allowed is a time, such as 2026-05-04T07:00:00Z, 2026-05-04, today, or 2h for two hours ago";
    instant.ok_or_else(|| allowed.to_owned())
}

/// Characters of a day: `2026-05-04`.
const DAY: usize = 10;

/// How long ago something was received, in its largest whole unit. Clocks differ: it is never from the future.
pub(super) fn age(received: Timestamp, now: Timestamp) -> String {
    let seconds = age_in_seconds(received, now);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

pub(super) fn age_in_seconds(received: Timestamp, now: Timestamp) -> i64 {
    (now.as_micros().saturating_sub(received.as_micros()) / 1_000_000).max(0)
}

/// A number of bytes in its largest unit.
pub(super) fn size(bytes: u64) -> String {
    ByteSize(bytes).display().iec().to_string()
}

/// Prints the values of one record, a line for each; empty ones are left out.
pub(super) fn facts(out: &mut Out<'_>, facts: &[(impl AsRef<str>, String)]) -> Result<()> {
    let mut table = Table::new([Column::whole(""), Column::text("")], Screen::PIPE);
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        table.row(out, vec![Cell::new(name), Cell::new(value)])?;
    }
    table.flush(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::at;

    #[test]
    fn what_is_not_a_duration_is_refused() {
        assert_eq!(duration("2d"), Ok(Duration::from_hours(48)));
        assert!(duration("yesterday").unwrap_err().contains("such as 1h"));
    }

    #[test]
    fn a_period_is_given_by_times_days_and_durations() {
        let time = |text| Timestamp::parse(text).unwrap();
        let now = time("2026-05-04T07:30:00Z");
        let first = |text| instant(text, now, "00:00:00");
        assert_eq!(first("2026-05-04 09:00+02:00"), Ok(time("2026-05-04T07:00:00Z")));
        assert_eq!(first("2026-05-01"), Ok(time("2026-05-01T00:00:00Z")));
        assert_eq!(first("today"), Ok(time("2026-05-04T00:00:00Z")));
        assert_eq!(first("2h"), Ok(time("2026-05-04T05:30:00Z")));
        assert_eq!(to("2026-05-01"), Ok(time("2026-05-01T23:59:59.999999Z")), "the day is included");
        assert!(from("yesterday").unwrap_err().contains("such as 2026-05-04T07:00:00Z"));
    }

    #[test]
    fn an_age_is_shown_in_its_largest_unit() {
        let ages =
            [(0, "0s"), (59, "59s"), (60, "1m"), (3_599, "59m"), (3_600, "1h"), (86_399, "23h"), (864_000, "10d")];
        for (seconds, shown) in ages {
            assert_eq!(age(at(0), at(seconds)), shown);
        }
        assert_eq!(age(at(5), at(0)), "0s", "clocks differ");
    }

    #[test]
    fn sizes_are_shown_in_their_unit() {
        let sizes = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (1 << 40, "1.0 TiB")];
        for (bytes, shown) in sizes {
            assert_eq!(size(bytes), shown);
        }
        assert_eq!(size(u64::MAX), "16.0 EiB");
    }
}
