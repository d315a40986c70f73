//! Inks in the colours of their names.

use crate::format::{duration, short};
use domain::device_board::{BoardDevice, LOW_INK, Moment};
use domain::device_history::InkForecast;
use domain::device_status::RemainingInk;
use domain::timestamp::Timestamp;

/// The fill of an ink whose name isn't known: a pattern that `ink_patterns` of ui_inks.html defines.
const UNKNOWN: &str = "url(#ink-unknown)";

/// The fill of inks without a colour of their own.
const CLEAR: &str = "url(#ink-clear)";

/// Words of names, and codes of one or two letters, with the fill of the ink and that of its light form.
const FILLS: [(&[&str], &str, &str); 17] = [
    (&["cyan", "c"], "#00a0d8", "#8fd4ef"),
    (&["magenta", "m"], "#d5007f", "#f2a3cb"),
    (&["yellow", "y"], "#f7d500", "#fbeb8f"),
    (&["grey", "gray", "gy", "lk", "lg"], "#7f8589", "#b7bcc0"),
    (&["white", "w", "wh"], "#ffffff", "#ffffff"),
    (&["orange", "o", "or"], "#f07c00", "#f8be80"),
    (&["green", "g", "gr"], "#1f9c4b", "#8fcea5"),
    (&["violet", "purple", "v", "vi"], "#6c3fa3", "#b59fd1"),
    (&["red", "r"], "#d8232a", "#ec9195"),
    (&["blue", "b", "bl"], "#1d4fa6", "#8ea7d3"),
    (&["pink"], "#f06fa8", "#f8b7d4"),
    (&["brown"], "#7a4a21", "#bda590"),
    (&["gold"], "#c39a2b", "#e1cd95"),
    (&["silver", "metallic", "mt"], "#a8afb4", "#d4d7da"),
    (&["clear", "varnish", "gloss", "coat", "primer", "optimizer", "optimiser", "cl", "vn", "pr"], CLEAR, CLEAR),
    (&["lc"], "#8fd4ef", "#8fd4ef"),
    (&["lm"], "#f2a3cb", "#f2a3cb"),
];

/// Black comes last: `Light Black` is grey, and `Photo Black` black.
const BLACK: (&[&str], &str, &str) = (&["black", "k", "bk", "pk", "mk"], "#1b1b1d", "#8b9094");

/// The `fill` of a picture of an ink.
pub(crate) fn fill(name: &str) -> &'static str {
    // Names of clients may be long; the words that matter come first.
    let name: String = name.chars().take(100).flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = name.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let is_light = words.iter().any(|word| matches!(*word, "light" | "lt" | "pale"));
    let mut known = FILLS.iter().chain([&BLACK]);
    let found = known.find(|(names, ..)| words.iter().any(|word| names.contains(word)));
    found.map_or(UNKNOWN, |(_, full, light)| if is_light { light } else { full })
}

/// An ink of a device as pages show it.
pub(crate) struct Ink {
    /// Its beginning: a client may send any text.
    pub(crate) name: String,
    pub(crate) fill: &'static str,
    /// Of the tank, from 0 to 100; `None` if the level isn't known.
    pub(crate) percent: Option<u8>,
    /// `410 of 800 ml`
    pub(crate) amount: String,
    /// `12.5 ml a day`; empty without a forecast.
    pub(crate) per_day: String,
    pub(crate) empties_at: Option<Timestamp>,
    /// How long it lasts: `2 d`; empty without a forecast.
    pub(crate) lasts: String,
    /// Whether it is below a tenth, or empty within three days.
    pub(crate) is_low: bool,
}

impl Ink {
    /// The first inks of the last status of a device: a client may send any number of them.
    pub(crate) fn first(device: &BoardDevice, moment: Moment, most: usize) -> Vec<Self> {
        let inks = device.status.iter().flat_map(|status| &status.remaining_inks);
        inks.take(most).map(|ink| Self::of(ink, forecast(device, ink), moment)).collect()
    }

    fn of(ink: &RemainingInk, forecast: Option<&InkForecast>, moment: Moment) -> Self {
        let share = share(ink);
        let empties_at = forecast.map(|forecast| forecast.empties_at);
        let is_low = share.is_some_and(|share| share < LOW_INK) || empties_at.is_some_and(|at| at < moment.soon());
        let seconds = |at: Timestamp| at.whole_seconds().saturating_sub(moment.now.whole_seconds());
        Self {
            name: short(&ink.name),
            fill: fill(&ink.name),
            percent: share.map(percent),
            amount: amount(ink),
            per_day: forecast.map(|forecast| format!("{} ml a day", decimal(forecast.per_day))).unwrap_or_default(),
            lasts: empties_at.map(|at| duration(seconds(at))).unwrap_or_default(),
            empties_at,
            is_low,
        }
    }

    /// The whole of it in words: `Cyan: 51 %, 410 of 800 ml, empty in 2 d`.
    pub(crate) fn words(&self) -> String {
        let level = self.percent.map_or_else(|| "level unknown".to_owned(), |percent| format!("{percent} %"));
        let empty = if self.lasts.is_empty() { String::new() } else { format!(", empty in {}", self.lasts) };
        let low = if self.is_low { ", low" } else { "" };
        format!("{}: {level}, {}{empty}{low}", self.name, self.amount)
    }

    /// Where the level begins in a tank of 40, from its top.
    pub(crate) fn top(&self) -> String {
        format!("{:.1}", 40.0 - self.level())
    }

    /// The height of the level in a tank of 40.
    pub(crate) fn height(&self) -> String {
        format!("{:.1}", self.level())
    }

    fn level(&self) -> f64 {
        f64::from(self.percent.unwrap_or_default()) * 0.4
    }
}

fn forecast<'a>(device: &'a BoardDevice, ink: &RemainingInk) -> Option<&'a InkForecast> {
    let of_ink = |one: &&InkForecast| one.name == ink.name && one.index.total_cmp(&ink.index).is_eq();
    device.forecast.iter().find(of_ink)
}

/// The level as a share of the tank, from 0 to 1; `None` if it isn't known.
pub(crate) fn share(ink: &RemainingInk) -> Option<f64> {
    (ink.level >= 0.0 && ink.max_level > 0.0).then(|| (ink.level / ink.max_level).min(1.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
fn percent(share: f64) -> u8 {
    (share * 100.0).floor() as u8
}

fn amount(ink: &RemainingInk) -> String {
    match ink.level {
        ..0.0 => format!("unknown of {} ml", decimal(ink.max_level)),
        level => format!("{} of {} ml", decimal(level), decimal(ink.max_level)),
    }
}

/// A number with one digit after the point, none where it is zero.
pub(crate) fn decimal(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ink_has_the_colour_of_its_name() {
        for (names, expected) in [
            (&["Cyan", "C", "cyan 1"][..], "#00a0d8"),
            (&["Light Cyan", "LC", "lt. cyan"], "#8fd4ef"),
            (&["Magenta", "Vivid Magenta"], "#d5007f"),
            (&["Black", "K", "Photo Black", "Matte Black"], "#1b1b1d"),
            (&["Light Black"], "#8b9094"),
            (&["Gray", "Grey"], "#7f8589"),
            (&["Varnish", "Clear", "Gloss Optimizer"], CLEAR),
            (&["", "12", "Spot 7", "\u{202e}nayC"], UNKNOWN),
        ] {
            for name in names {
                assert_eq!(fill(name), expected, "{name}");
            }
        }
        assert_eq!(fill(&"x".repeat(100_000)), UNKNOWN);
    }

    #[test]
    fn levels_are_shown_with_units() {
        let ink = |level, max_level| RemainingInk { index: 0.0, name: "Cyan".to_owned(), level, max_level };
        let moment = Moment::new(Timestamp::EPOCH, std::time::Duration::ZERO);
        let words = |level, max| Ink::of(&ink(level, max), None, moment).words();
        assert_eq!(words(410.25, 800.0), "Cyan: 51 %, 410.2 of 800 ml");
        assert_eq!(words(79.9, 800.0), "Cyan: 9 %, 79.9 of 800 ml, low");
        assert_eq!(words(-1.0, 800.0), "Cyan: level unknown, unknown of 800 ml");
        assert_eq!(words(900.0, 800.0), "Cyan: 100 %, 900 of 800 ml");
        let forecast = InkForecast {
            index: 0.0,
            name: "Cyan".to_owned(),
            per_day: 12.5,
            empties_at: Timestamp::from_micros(172_800_000_000),
        };
        let low = Ink::of(&ink(400.0, 800.0), Some(&forecast), moment);
        assert_eq!(
            (low.words().as_str(), low.per_day.as_str()),
            ("Cyan: 50 %, 400 of 800 ml, empty in 2 d, low", "12.5 ml a day")
        );
    }
}
