//! A line of bars: one for each of the last days.

/// Height of the drawing, without a unit.
const HEIGHT: u64 = 24;

/// From one bar to the next.
const STEP: usize = 4;

/// A bar of the drawing.
pub(crate) struct Bar {
    pub(crate) x: usize,
    pub(crate) y: u64,
    pub(crate) height: u64,
}

/// The bars of days with reports. A day with few reports is visible even if another day has many.
pub(crate) fn bars(daily: &[u64]) -> Vec<Bar> {
    let most = daily.iter().copied().max().unwrap_or(0).max(1);
    let days = daily.iter().enumerate().filter(|(_, reports)| **reports > 0);
    let bar = |(day, reports): (usize, &u64)| {
        let height = (reports.saturating_mul(HEIGHT) / most).clamp(2, HEIGHT);
        Bar { x: day * STEP, y: HEIGHT - height, height }
    };
    days.map(bar).collect()
}

/// The width of the drawing.
pub(crate) fn width(daily: &[u64]) -> usize {
    daily.len() * STEP
}

/// The same in words, for those who don't see the drawing.
pub(crate) fn summary(daily: &[u64]) -> String {
    let all: u64 = daily.iter().sum();
    let most = daily.iter().copied().max().unwrap_or(0);
    format!("{all} in the last {} days, at most {most} on one day", daily.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_with_reports_has_a_bar_that_can_be_seen() {
        let drawn: Vec<_> = bars(&[0, 1, 1000, 500]).iter().map(|bar| (bar.x, bar.y, bar.height)).collect();
        assert_eq!(drawn, [(4, 22, 2), (8, 0, 24), (12, 12, 12)]);
        assert!(bars(&[0; 30]).is_empty() && bars(&[]).is_empty());
        assert_eq!(bars(&[u64::MAX]).len(), 1);
        assert_eq!(summary(&[0, 3, 1]), "4 in the last 3 days, at most 3 on one day");
    }
}
