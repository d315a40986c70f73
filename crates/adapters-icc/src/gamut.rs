//! The outline of a gamut in the a*b* plane of CIELAB: the colours of the device at any lightness.

use domain::icc::{Gamut, LabPoint};
use moxcms::{ColorProfile, DataColorSpace, Lab, Layout, RenderingIntent, TransformOptions, Xyz};
use std::f32::consts::TAU;
use std::sync::LazyLock;

/// The tags that the transform to the connection space needs.
pub(crate) const TAGS: &[&[u8; 4]] =
    &[b"A2B0", b"A2B1", b"rXYZ", b"gXYZ", b"bXYZ", b"rTRC", b"gTRC", b"bTRC", b"wtpt", b"chad"];

/// Steps along an edge of the cube of device colours.
const STEPS: u16 = 48;

/// Limit for the corners of the outline: one in each direction of equal angles.
const DIRECTIONS: usize = 90;

/// Limit for the distance of a colour from the neutral axis. Farther points are errors of the profile.
const MAX_CHROMA: f32 = 250.0;

/// `Lab::from_xyz` takes CIEXYZ in the encoding of the connection space, in which 1 means this value (ICC.1:2022,
/// 6.3.4.2).
const ENCODED: f32 = 1.0 + 32_767.0 / 32_768.0;

static SRGB: LazyLock<Vec<LabPoint>> = LazyLock::new(|| outline(&ColorProfile::new_srgb()).unwrap_or_default());

/// Computes the outline of a profile, and adds that of sRGB.
///
/// # Errors
/// A sentence about why there is no outline.
pub(crate) fn of(profile: &ColorProfile, class: [u8; 4]) -> Result<Gamut, String> {
    if let b"link" | b"abst" | b"nmcl" = &class {
        return Err("the profile describes no device".to_owned());
    }
    Ok(Gamut { profile: outline(profile)?, srgb: SRGB.clone() })
}

fn outline(profile: &ColorProfile) -> Result<Vec<LabPoint>, String> {
    let points = match profile.color_space {
        DataColorSpace::Rgb => lab(profile, Layout::Rgb, &surface(|[r, g, b]| vec![r, g, b]))?,
        DataColorSpace::Cmy => lab(profile, Layout::Rgb, &surface(|[c, m, y]| vec![c, m, y]))?,
        // Black only makes colours less colourful.
        DataColorSpace::Cmyk => lab(profile, Layout::Rgba, &surface(|[c, m, y]| vec![c, m, y, 0.0]))?,
        DataColorSpace::Gray => return Err("a gray device has no colours".to_owned()),
        _ => return Err("this is done for RGB, CMY and CMYK only".to_owned()),
    };
    let corners = corners(&points);
    if corners.len() < 3 { Err("its colours lie on a line".to_owned()) } else { Ok(corners) }
}

/// Device colours on the faces of the cube: the channels of all colours in one list.
fn surface(color: fn([f32; 3]) -> Vec<f32>) -> Vec<f32> {
    let step = |number: u16| f32::from(number) / f32::from(STEPS);
    let mut colors = Vec::new();
    for (first, second) in (0..=STEPS).flat_map(|first| (0..=STEPS).map(move |second| (step(first), step(second)))) {
        for end in [0.0, 1.0] {
            for point in [[end, first, second], [first, end, second], [first, second, end]] {
                colors.extend(color(point));
            }
        }
    }
    colors
}

/// Converts device colours (channels from 0 to 1) to a* and b*. The library transforms between devices only, so the
/// colours go through an RGB that holds all colours (ACES 2065-1, linear). A matrix converts that to CIEXYZ.
fn lab(profile: &ColorProfile, layout: Layout, colors: &[f32]) -> Result<Vec<LabPoint>, String> {
    let channels = layout.channels();
    let wide = ColorProfile::new_aces_aces_2065_1_linear();
    let options =
        TransformOptions { rendering_intent: RenderingIntent::RelativeColorimetric, ..TransformOptions::default() };
    let transform = profile.create_transform_f32(layout, &wide, Layout::Rgb, options);
    let transform = transform.map_err(|error| format!("the tags for it are missing or damaged ({error})"))?;
    let mut transformed = vec![0.0_f32; colors.len() / channels * 3];
    transform.transform(colors, &mut transformed).map_err(|error| format!("{error}"))?;
    let matrix = wide.rgb_to_xyz_matrix().to_f32();
    let point = |color: &[f32]| {
        let row = |row: [f32; 3]| row[0] * color[0] + row[1] * color[1] + row[2] * color[2];
        let [x, y, z] = matrix.v.map(row).map(|value| value / ENCODED);
        let Lab { a, b, .. } = Lab::from_xyz(Xyz { x, y, z });
        LabPoint { a, b }
    };
    Ok(transformed.chunks_exact(3).map(point).collect())
}

/// The most colourful point in each direction, in the order of the directions.
fn corners(points: &[LabPoint]) -> Vec<LabPoint> {
    let mut farthest: Vec<Option<(f32, LabPoint)>> = vec![None; DIRECTIONS];
    for point in points {
        let chroma = point.a.hypot(point.b);
        if !(0.5..=MAX_CHROMA).contains(&chroma) {
            continue;
        }
        let turn = point.b.atan2(point.a).rem_euclid(TAU) / TAU;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a small number"
        )]
        let direction = ((turn * DIRECTIONS as f32) as usize).min(DIRECTIONS - 1);
        if farthest[direction].is_none_or(|(most, _)| chroma > most) {
            farthest[direction] = Some((chroma, *point));
        }
    }
    farthest.into_iter().flatten().map(|(_, point)| point).collect()
}
