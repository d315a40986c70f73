//! Charts that the server draws as SVG: axes, and places of points. Pages draw them with attributes only, since the
//! policy of the console allows no `style` (decision P7).

use domain::device_history::Period;
use domain::timestamp::Timestamp;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The left and right end of the part in which values are drawn, of a picture of 960 by 200 units.
pub(crate) const LEFT: f64 = 56.0;
pub(crate) const RIGHT: f64 = 948.0;

/// Its upper and lower end.
pub(crate) const TOP: f64 = 10.0;
pub(crate) const BOTTOM: f64 = 172.0;

/// Marks of an axis of values, at most.
const MARKS: f64 = 5.0;

/// A mark of an axis.
pub(crate) struct Mark {
    /// Where it is, from the left or from the top.
    pub(crate) place: String,
    pub(crate) label: String,
}

/// A place as SVG has it.
pub(crate) fn place(number: f64) -> String {
    format!("{number:.1}")
}

/// The axis of time, in UTC: the server doesn't know the zone of the reader.
#[derive(Clone, Copy)]
pub(crate) struct TimeAxis(pub(crate) Period);

impl TimeAxis {
    /// From the left; times outside of the period are at its ends.
    #[expect(clippy::cast_precision_loss, reason = "a month is exact in microseconds")]
    pub(crate) fn x(self, at: Timestamp) -> f64 {
        let since = |at: Timestamp| at.as_micros().saturating_sub(self.0.from.as_micros()) as f64;
        let share = since(at) / since(self.0.to).max(1.0);
        LEFT + share.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// Marks at whole hours or days.
    pub(crate) fn marks(self) -> Vec<Mark> {
        const HOUR: i64 = 3_600;
        const DAY: i64 = 24 * HOUR;
        let (from, to) = (self.0.from.whole_seconds(), self.0.to.whole_seconds());
        let step = match to - from {
            ..=172_800 => 3 * HOUR,
            172_801..=864_000 => DAY,
            length => (length / 6 / DAY).max(1) * DAY,
        };
        let first = (from.div_euclid(step) + 1) * step;
        let label = |at: Timestamp| {
            let text = at.to_string();
            let piece = if step < DAY { text.get(11..16) } else { text.get(5..10) };
            piece.unwrap_or_default().to_owned()
        };
        let mark = |second: i64| {
            let at = Timestamp::from_micros(second * 1_000_000);
            Mark { place: place(self.x(at)), label: label(at) }
        };
        (0..64).map(|number| first + number * step).take_while(|second| *second <= to).map(mark).collect()
    }
}

/// The axis of values.
#[derive(Clone, Copy)]
pub(crate) struct ValueAxis {
    low: f64,
    high: f64,
    step: f64,
}

impl ValueAxis {
    /// An axis of round numbers that holds these values.
    pub(crate) fn around(values: RangeInclusive<f64>) -> Self {
        let (low, high) = (values.start().min(*values.end()), *values.end());
        let length = (high - low).max(1.0);
        let size = 10_f64.powf((length / MARKS).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * size);
        let step = step.into_iter().find(|step| length / step <= MARKS).unwrap_or(10.0 * size);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self { low, high: if high > low { high } else { low + step }, step }
    }

    /// From the top; values outside of the axis are at its ends.
    pub(crate) fn y(self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        BOTTOM - share * (BOTTOM - TOP)
    }

    /// Marks with the unit.
    pub(crate) fn marks(self, unit: &str) -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut value = self.low;
        while value <= self.high + self.step / 2.0 {
            marks.push(Mark { place: place(self.y(value)), label: format!("{}{unit}", crate::inks::decimal(value)) });
            value += self.step;
        }
        marks
    }
}

/// A line: the points of each piece without a gap, as SVG has them.
pub(crate) fn pieces(
    points: impl Iterator<Item = (Timestamp, Option<f64>)>,
    time: TimeAxis,
    values: ValueAxis,
    gap: Duration,
) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last: Option<Timestamp> = None;
    for (at, value) in points {
        let Some(value) = value else {
            last = None;
            continue;
        };
        let point = format!("{},{}", place(time.x(at)), place(values.y(value)));
        let is_next = last.is_some_and(|last| at <= last.plus(gap));
        match pieces.last_mut() {
            Some(piece) if is_next => *piece = format!("{piece} {point}"),
            _ => pieces.push(point),
        }
        last = Some(at);
    }
    // A point alone is drawn as a line of no length, which has round ends.
    pieces.into_iter().map(|piece| if piece.contains(' ') { piece } else { format!("{piece} {piece}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn period(to: i64) -> TimeAxis {
        TimeAxis(Period { from: at(0), to: at(to) })
    }

    #[test]
    fn marks_are_at_whole_hours_and_days() {
        let labels = |to: i64| period(to).marks().into_iter().map(|mark| mark.label).collect::<Vec<_>>();
        assert_eq!(labels(86_400), ["03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "00:00"]);
        assert_eq!(labels(3 * 86_400), ["01-02", "01-03", "01-04"]);
        assert_eq!(labels(30 * 86_400).len(), 6);
        assert!(labels(0).is_empty());
    }

    #[test]
    fn an_axis_of_values_has_round_numbers() {
        for (values, expected) in [
            (0.0..=100.0, &["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"][..]),
            (21.5..=24.0, &["21.5 %", "22 %", "22.5 %", "23 %", "23.5 %", "24 %"]),
            (7.0..=7.0, &["7 %", "7.2 %"]),
            (0.0..=0.0, &["0 %", "0.2 %"]),
        ] {
            let marks = ValueAxis::around(values).marks(" %").into_iter().map(|mark| mark.label).collect::<Vec<_>>();
            assert_eq!(marks, expected);
        }
        let percent = ValueAxis::around(0.0..=100.0);
        assert_eq!((percent.y(0.0), percent.y(100.0), percent.y(500.0)), (BOTTOM, TOP, TOP));
    }

    #[test]
    fn a_line_has_a_gap_where_values_are_missing() {
        let points = [(0, Some(0.0)), (10, Some(100.0)), (20, None), (30, Some(50.0)), (90, Some(0.0))];
        let points = points.into_iter().map(|(second, value)| (at(second), value));
        let axis = ValueAxis::around(0.0..=100.0);
        let lines = pieces(points, period(100), axis, Duration::from_secs(15));
        assert_eq!(lines, ["56.0,172.0 145.2,10.0", "323.6,91.0 323.6,91.0", "858.8,172.0 858.8,172.0"]);
    }
}
