//! The picture of a gamut: outlines in the a*b* plane, drawn as SVG (decision I11).

use domain::icc::{Gamut, LabPoint};
use std::fmt::Write;

/// Width and height of the drawing, without a unit.
pub(super) const SIDE: f32 = 400.0;

/// Between the drawing's edge and the largest chroma.
const MARGIN: f32 = 26.0;

/// The picture shows at least so much of each axis.
const LEAST: f32 = 100.0;

/// Where lines of the grid lie.
const STEP: u16 = 50;

/// What the template draws.
pub(super) struct Picture {
    /// Corners of the profile's outline, in the form of SVG.
    pub(super) profile: String,
    pub(super) srgb: String,
    /// Where the axes meet.
    pub(super) middle: f32,
    pub(super) side: f32,
    pub(super) lines: Vec<Line>,
    /// The two areas in words, for those who don't see the picture.
    pub(super) summary: String,
}

/// A line of the grid in each direction, on both sides of the axis.
pub(super) struct Line {
    /// The value of a* or b*.
    pub(super) value: u16,
    pub(super) low: f32,
    pub(super) high: f32,
}

pub(super) fn picture(gamut: &Gamut) -> Picture {
    let all = gamut.profile.iter().chain(&gamut.srgb);
    let most = all.map(|point| point.a.abs().max(point.b.abs())).fold(LEAST, f32::max);
    let middle = SIDE / 2.0;
    let scale = (middle - MARGIN) / most;
    let lines = (1..).map(|number| number * STEP).take_while(|value| f32::from(*value) <= most).map(|value| Line {
        value,
        low: middle - f32::from(value) * scale,
        high: middle + f32::from(value) * scale,
    });
    Picture {
        profile: corners(&gamut.profile, middle, scale),
        srgb: corners(&gamut.srgb, middle, scale),
        middle,
        side: SIDE,
        lines: lines.collect(),
        summary: summary(area(&gamut.profile), area(&gamut.srgb)),
    }
}

/// b* points up.
fn corners(points: &[LabPoint], middle: f32, scale: f32) -> String {
    points.iter().fold(String::new(), |mut text, point| {
        // Writing to a text can't fail.
        let _ = write!(text, "{:.1},{:.1} ", middle + point.a * scale, middle - point.b * scale);
        text
    })
}

/// The area within an outline.
fn area(points: &[LabPoint]) -> f32 {
    let next = points.iter().cycle().skip(1);
    let twice: f32 = points.iter().zip(next).map(|(one, other)| one.a * other.b - other.a * one.b).sum();
    twice.abs() / 2.0
}

fn summary(profile: f32, srgb: f32) -> String {
    if srgb <= 0.0 {
        return String::new();
    }
    format!("The outline encloses {:.0} % of the area of sRGB.", profile / srgb * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f32) -> Vec<LabPoint> {
        [(half, half), (-half, half), (-half, -half), (half, -half)].map(|(a, b)| LabPoint { a, b }).to_vec()
    }

    /// Decision I11.
    #[test]
    fn outlines_are_drawn_around_the_neutral_axis_with_b_upwards() {
        let drawn = picture(&Gamut { profile: square(100.0), srgb: square(50.0) });
        assert_eq!(drawn.profile, "374.0,26.0 26.0,26.0 26.0,374.0 374.0,374.0 ");
        assert_eq!(drawn.srgb, "287.0,113.0 113.0,113.0 113.0,287.0 287.0,287.0 ");
        assert_eq!(drawn.lines.iter().map(|line| line.value).collect::<Vec<_>>(), [50, 100]);
        assert_eq!(drawn.summary, "The outline encloses 400 % of the area of sRGB.");
    }

    #[test]
    fn large_gamuts_stay_within_the_picture() {
        let drawn = picture(&Gamut { profile: square(200.0), srgb: Vec::new() });
        assert!(drawn.profile.starts_with("374.0,26.0 "), "{}", drawn.profile);
        assert_eq!((drawn.lines.len(), drawn.summary.as_str()), (4, ""));
    }
}
