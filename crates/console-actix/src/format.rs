//! How pages show times, sizes and counts. Scripts show times relative to now and in the viewer's zone instead.

#![expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]

use bytesize::ByteSize;
use domain::timestamp::Timestamp;

/// `2026-05-04 09:30 UTC`
pub(crate) fn minute(at: &Timestamp) -> String {
    let text = at.to_string().replace('T', " ");
    format!("{} UTC", text.get(..16).unwrap_or_default())
}

/// `2026-05-04 09:30:15 UTC`
pub(crate) fn second(at: &Timestamp) -> String {
    at.to_string().replace('T', " ").replace('Z', " UTC")
}

/// `2026-05-04 09:30:15.250000 UTC`
pub(crate) fn exact(at: &Timestamp) -> String {
    at.precise().replace('T', " ").replace('Z', " UTC")
}

/// A number of bytes in its largest unit: `7.0 KiB`.
pub(crate) fn size(bytes: &u64) -> String {
    ByteSize(*bytes).display().iec().to_string()
}

/// The beginning of a text that is one of many: 200 characters.
pub(crate) fn short(text: &(impl AsRef<str> + ?Sized)) -> String {
    beginning(text.as_ref(), 200)
}

/// The beginning of a text: 4,000 characters.
pub(crate) fn long(text: &(impl AsRef<str> + ?Sized)) -> String {
    beginning(text.as_ref(), 4_000)
}

fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A whole number with its thousands apart: `1,234,567`.
pub(crate) fn count(number: &u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How long something lasts or lasted, in its largest whole unit: `3 min`.
pub(crate) fn duration(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc_to_the_minute_the_second_and_the_microsecond() {
        let at = Timestamp::parse("2026-05-04T09:30:15.25Z").unwrap_or(Timestamp::EPOCH);
        assert_eq!(minute(&at), "2026-05-04 09:30 UTC");
        assert_eq!(second(&at), "2026-05-04 09:30:15 UTC");
        assert_eq!(exact(&at), "2026-05-04 09:30:15.250000 UTC");
    }

    #[test]
    fn long_texts_are_cut_with_an_ellipsis() {
        assert_eq!(short("ä"), "ä");
        assert_eq!(short(&"ä".repeat(200)), "ä".repeat(200));
        assert_eq!(short(&"ä".repeat(201)), format!("{}…", "ä".repeat(200)));
        assert_eq!(long(&"a".repeat(9_000)).chars().count(), 4_001);
    }

    #[test]
    fn numbers_are_shown_with_units_and_thousands_apart() {
        for (bytes, shown) in [(0, "0 B"), (1023, "1023 B"), (7168, "7.0 KiB"), (1 << 30, "1.0 GiB")] {
            assert_eq!(size(&bytes), shown);
        }
        for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(&number), shown);
        }
        for (seconds, shown) in [(-1, "0 s"), (59, "59 s"), (60, "1 min"), (7_200, "2 h"), (864_000, "10 d")] {
            assert_eq!(duration(seconds), shown);
        }
    }
}
