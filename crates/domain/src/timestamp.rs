//! Points in time to the microsecond, and the forms in which clients write them (decisions T2, T3).

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;
use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

/// A point in time in UTC, in microseconds (decision T3), within the years 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// Reads the forms of decision T2, cut to the microsecond; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut scan = Scanner(text.as_bytes());
        let date = scan.date()?;
        scan.one_of(b"Tt ")?;
        let time = scan.time()?;
        let offset = scan.offset()?;
        if !scan.0.is_empty() {
            return None;
        }
        let moment = OffsetDateTime::new_in_offset(date, time, offset).checked_to_offset(UtcOffset::UTC)?;
        (1..=9999).contains(&moment.year()).then(|| Self::from(moment))
    }

    /// The point `micros` microseconds after 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// This point moved into the future; the last representable one where that overflows.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(micros_of(duration)))
    }

    /// This point moved into the past.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(micros_of(duration)))
    }

    /// `YYYY-MM-DDThh:mm:ss.ffffffZ`, for people who must see why one point isn't newer than another.
    #[must_use]
    pub fn precise(self) -> String {
        let seconds = self.to_string();
        format!("{}.{:06}Z", seconds.trim_end_matches('Z'), self.0.rem_euclid(1_000_000))
    }

    /// Seconds since 1970-01-01T00:00:00Z, the fraction cut off.
    #[must_use]
    pub fn whole_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }
}

fn micros_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

impl From<OffsetDateTime> for Timestamp {
    fn from(moment: OffsetDateTime) -> Self {
        let micros = moment.unix_timestamp_nanos().div_euclid(1_000);
        Self(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Timestamp {
    /// `YYYY-MM-DDThh:mm:ssZ`, the fraction cut off (decision T3).
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = OffsetDateTime::from_unix_timestamp(self.whole_seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (date, time) = (moment.date(), moment.time());
        write!(
            out,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            date.year(),
            u8::from(date.month()),
            date.day(),
            time.hour(),
            time.minute(),
            time.second()
        )
    }
}

/// What of the text is not read yet.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn one_of(&mut self, allowed: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        allowed.contains(&first).then(|| {
            self.0 = rest;
            first
        })
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0, |sum, &digit| Some(sum * 10 + char::from(digit).to_digit(10)?))?;
        self.0 = rest;
        Some(number)
    }

    fn two_digits(&mut self) -> Option<u8> {
        u8::try_from(self.digits(2)?).ok()
    }

    fn date(&mut self) -> Option<Date> {
        let year = i32::try_from(self.digits(4)?).ok()?;
        self.one_of(b"-")?;
        let month = Month::try_from(self.two_digits()?).ok()?;
        self.one_of(b"-")?;
        Date::from_calendar_date(year, month, self.two_digits()?).ok()
    }

    fn time(&mut self) -> Option<Time> {
        let hour = self.two_digits()?;
        self.one_of(b":")?;
        let minute = self.two_digits()?;
        if self.one_of(b":").is_none() {
            return Time::from_hms(hour, minute, 0).ok();
        }
        let second = self.two_digits()?;
        let micros = if self.one_of(b".,").is_some() { self.fraction()? } else { 0 };
        // RFC 3339 allows a leap second; it is kept as the last microsecond of its minute.
        let (second, micros) = if second == 60 { (59, 999_999) } else { (second, micros) };
        Time::from_hms_micro(hour, minute, second, micros).ok()
    }

    /// The digits after the point, cut to microseconds.
    fn fraction(&mut self) -> Option<u32> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        let digit = |place: usize| digits.get(place).map_or(0, |digit| u32::from(digit - b'0'));
        (length > 0).then(|| (0..6).fold(0, |sum, place| sum * 10 + digit(place)))
    }

    /// `Z`, `±hh`, `±hhmm`, `±hh:mm`, or nothing, which is UTC.
    fn offset(&mut self) -> Option<UtcOffset> {
        if self.0.is_empty() || self.one_of(b"Zz").is_some() {
            return Some(UtcOffset::UTC);
        }
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = i8::try_from(self.two_digits()?).ok()?;
        let minutes = if self.0.is_empty() {
            0
        } else {
            self.one_of(b":");
            i8::try_from(self.two_digits()?).ok()?
        };
        (hours < 24 && minutes < 60).then(|| UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok()).flatten()
    }
}
