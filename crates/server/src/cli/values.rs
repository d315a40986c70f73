//! Values of the command line that several commands take, and how they show some.

use super::output::Out;
use super::table::{Cell, Column, Screen, Table};
use crate::config::duration;
use crate::wiring;
use anyhow::Result;
use domain::timestamp::Timestamp;
use std::time::Duration;

/// Reads a GUID of the kind that `parse` knows.
pub(super) fn guid<T: 'static>(
    parse: fn(&str) -> Option<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| parse(text).ok_or_else(|| "it is not a GUID".to_owned())
}

/// Reads a last while.
pub(super) fn since(text: &str) -> Result<Duration, String> {
    duration(text).ok_or_else(|| "allowed is a duration, such as 1h (units ms, s, m, h, d, w)".to_owned())
}

/// When a last while began.
pub(super) fn ago(since: Duration) -> Timestamp {
    wiring::clock().now().minus(since)
}

/// Reads a time in the forms of the interface (decision T2).
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "allowed is a time, such as 2026-05-04T07:00:00Z".to_owned())
}

/// Bytes for people.
#[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// Prints what is known of one record, a line for each fact; empty values are left out.
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

    #[test]
    fn what_is_not_a_guid_a_duration_or_a_time_is_refused() {
        let computer = guid(domain::guid::ComputerGuid::parse);
        assert!(computer("6f9619ff-8b86-d011-b42d-00c04fc964ff").is_ok() && computer("RIP-01").is_err());
        assert_eq!(since("2d"), Ok(Duration::from_hours(48)));
        assert!(since("yesterday").unwrap_err().contains("such as 1h"));
        assert_eq!(time("2026-05-04 09:00+02:00"), time("2026-05-04T07:00:00Z"));
        assert!(time("yesterday").unwrap_err().contains("such as 2026"));
    }

    #[test]
    fn sizes_are_shown_in_their_unit() {
        let sizes = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (1 << 40, "1.0 TiB")];
        for (bytes, shown) in sizes {
            assert_eq!(size(bytes), shown);
        }
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }
}
