//! The one table that is printed.

use crate::samples::{Pairs, Samples};
use std::fmt::Write as _;

/// What issue or agreement asks of a row.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// Product to reference, at least.
    AtLeast(f64),
    /// Product to reference, at most.
    AtMost(f64),
    /// The product's own value, at most.
    ValueAtMost(f64),
    /// Recorded for comparison only.
    None,
}

/// A line of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) work: String,
    pub(crate) unit: &'static str,
    pub(crate) pairs: Pairs,
    /// What the reference is, in words; empty where there is none.
    pub(crate) reference: String,
    pub(crate) goal: Goal,
    pub(crate) note: String,
}

impl Row {
    fn cells(&self) -> [String; 8] {
        let compared = !self.reference.is_empty();
        let ratios = self.pairs.ratios();
        let value = if matches!(self.goal, Goal::ValueAtMost(_)) { self.pairs.product.most() } else { ratios.median() };
        let (goal, reached) = match self.goal {
            Goal::AtLeast(goal) => (format!("≥ {goal} ×"), verdict(value >= goal)),
            Goal::AtMost(goal) => (format!("≤ {goal} ×"), verdict(value <= goal)),
            Goal::ValueAtMost(goal) => (format!("≤ {goal:.0} {}", self.unit), verdict(value <= goal)),
            Goal::None => (String::new(), String::new()),
        };
        [
            format!("`{}`", self.name),
            self.work.clone(),
            with_spread(&self.pairs.product, self.unit),
            self.reference.clone(),
            if compared { with_spread(&self.pairs.reference, self.unit) } else { String::new() },
            if compared { ratio(&ratios) } else { String::new() },
            [goal, reached].join(" ").trim().to_owned(),
            self.note.clone(),
        ]
    }
}

fn verdict(reached: bool) -> String {
    if reached { "reached".to_owned() } else { "**missed**".to_owned() }
}

fn ratio(ratios: &Samples) -> String {
    format!("**{:.2}** ({:.2}–{:.2})", ratios.median(), ratios.least(), ratios.most())
}

fn with_spread(samples: &Samples, unit: &str) -> String {
    format!("{} {unit} ({}–{})", number(samples.median()), number(samples.least()), number(samples.most()))
}

/// Three significant digits, thousands apart.
pub(crate) fn number(value: f64) -> String {
    if value.abs() < 100.0 {
        return format!("{value:.prec$}", prec = if value.abs() < 10.0 { 2 } else { 1 });
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.as_bytes()[at - 1] != b'-' {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The table in Markdown.
pub(crate) fn render(rows: &[Row]) -> String {
    let mut text = String::from("| row | work | Platen | reference | its value | ratio | goal | note |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        // Writing to a String can't fail.
        let _ = writeln!(text, "| {} |", row.cells().join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(goal: Goal) -> String {
        let pairs = Pairs {
            product: Samples::from_iter([2000.0, 3000.0, 2500.0]),
            reference: Samples::from_iter([1000.0, 1000.0, 1000.0]),
        };
        let row = Row {
            name: "x",
            work: "a work".to_owned(),
            unit: "/s",
            pairs,
            reference: "raw".to_owned(),
            goal,
            note: String::new(),
        };
        render(&[row])
    }

    #[test]
    fn a_row_shows_medians_spread_ratio_and_goal() {
        let text = row(Goal::AtLeast(2.0));
        assert!(text.contains("| `x` | a work | 2,500 /s (2,000–3,000) | raw | 1,000 /s (1,000–1,000) | **2.50** (2.00–3.00) | ≥ 2 × reached |"), "{text}");
    }

    #[test]
    fn a_missed_goal_is_shown() {
        assert!(row(Goal::AtLeast(3.0)).contains("≥ 3 × **missed**"));
        assert!(row(Goal::AtMost(1.3)).contains("≤ 1.3 × **missed**"));
        assert!(row(Goal::ValueAtMost(2600.0)).contains("≤ 2600 /s **missed**"));
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown: Vec<String> = [1.234, 12.34, 123.4, 1234.5, 1_234_567.0].into_iter().map(number).collect();
        assert_eq!(shown, ["1.23", "12.3", "123", "1,234", "1,234,567"]);
    }
}
