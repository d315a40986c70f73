//! Profiles for the demo. The library generates them.

use moxcms::ColorProfile;

/// Profiles of common colour spaces: names and contents.
#[must_use]
pub fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let profiles = [
        ("sRGB IEC61966-2.1", ColorProfile::new_srgb()),
        ("Display P3", ColorProfile::new_display_p3()),
        ("Adobe RGB (1998) compatible", ColorProfile::new_adobe_rgb()),
        ("ProPhoto RGB", ColorProfile::new_pro_photo_rgb()),
        ("Rec. 2020", ColorProfile::new_bt2020()),
        ("Gray Gamma 2.2", ColorProfile::new_gray_with_gamma(2.2)),
    ];
    // The library can encode its own profiles.
    profiles.into_iter().filter_map(|(name, profile)| Some((name, dated(profile.encode().ok()?)))).collect()
}

/// Sets the creation date to 2026-01-02, since the library takes the current time.
fn dated(mut content: Vec<u8>) -> Vec<u8> {
    let date = [2026_u16, 1, 2, 12, 0, 0].map(u16::to_be_bytes);
    if let Some(place) = content.get_mut(24..36) {
        place.copy_from_slice(date.as_flattened());
    }
    content
}
