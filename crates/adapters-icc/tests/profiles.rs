//! Decision I11: what is read of whole and of damaged profiles.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use adapters_icc::{IccReader, facts, samples};
use bytes::Bytes;
use domain::icc::{LabPoint, MAX_PROFILE_SIZE, ProfileFacts, ProfileReader, ProfileSource, UnreadProfile};
use domain::timestamp::Timestamp;
use futures_util::{StreamExt, stream};
use moxcms::{ColorProfile, LocalizableString, ProfileText};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn display_p3() -> Vec<u8> {
    ColorProfile::new_display_p3().encode().unwrap()
}

/// The largest chroma of an outline in the quadrant of these signs.
fn chroma(outline: &[LabPoint], a: f32, b: f32) -> f32 {
    let inside = outline.iter().filter(|point| point.a * a > 0.0 && point.b * b > 0.0);
    inside.map(|point| point.a.hypot(point.b)).fold(0.0, f32::max)
}

/// Twice the area within an outline.
fn area(outline: &[LabPoint]) -> f32 {
    let next = outline.iter().cycle().skip(1);
    outline.iter().zip(next).map(|(one, other)| one.a * other.b - other.a * one.b).sum()
}

#[test]
fn the_facts_of_a_whole_profile_are_read() {
    let content = display_p3();
    let size = content.len() as u64;
    let found = facts(content);
    assert_eq!(found.problems, Vec::<String>::new());
    assert!(found.version.starts_with("4."), "{}", found.version);
    assert_eq!((found.class.as_str(), found.color_space.as_str()), ("Display", "RGB"));
    assert_eq!(found.connection_space, "CIEXYZ");
    assert!(found.description.as_deref().unwrap().contains("P3"), "{:?}", found.description);
    assert_eq!((found.size, found.declared_size, found.has_declared_size()), (size, size, true));
    let tag = |signature: &str| found.tags.iter().find(|tag| tag.signature == signature);
    let red = tag("rXYZ").unwrap();
    assert_eq!((red.name, red.size, red.is_inside), (Some("Red primary"), 20, true));
    assert!(tag("desc").is_some() && tag("wtpt").is_some());
}

/// The published values of sRGB's primaries in CIELAB (D50).
#[test]
fn the_outline_has_the_colours_of_the_device() {
    let gamut = facts(display_p3()).gamut.unwrap();
    for (a, b, expected) in
        [(80.8, 69.9, "red"), (-79.3, 81.0, "green"), (68.3, -112.0, "blue"), (93.6, -60.5, "magenta")]
    {
        let nearest = gamut.srgb.iter().map(|point| (point.a - a).hypot(point.b - b)).fold(f32::MAX, f32::min);
        // Each direction has one corner, which may differ from that of a primary.
        assert!(nearest < 4.0, "{expected} is {nearest} away");
    }
    assert!(area(&gamut.profile) > area(&gamut.srgb) * 1.15, "{} {}", area(&gamut.profile), area(&gamut.srgb));
    for (a, b) in [(1.0, 1.0), (-1.0, 1.0)] {
        assert!(chroma(&gamut.profile, a, b) > chroma(&gamut.srgb, a, b) + 5.0, "{a} {b}");
    }
    let srgb = facts(ColorProfile::new_srgb().encode().unwrap()).gamut.unwrap();
    let same = area(&srgb.profile) / area(&srgb.srgb);
    assert!((same - 1.0).abs() < 0.01, "{same}");
}

#[test]
fn a_description_is_in_english_where_there_is_one() {
    let text =
        |language: &str, value: &str| LocalizableString::new(language.to_owned(), "XX".to_owned(), value.to_owned());
    let described = |texts: Vec<LocalizableString>| {
        let mut profile = ColorProfile::new_srgb();
        profile.description = Some(ProfileText::Localizable(texts));
        facts(profile.encode().unwrap()).description
    };
    let both = vec![text("de", "Glaenzend"), text("en", "Glossy <b>")];
    assert_eq!(described(both).as_deref(), Some("Glossy <b>"));
    assert_eq!(described(vec![text("de", "Glaenzend")]).as_deref(), Some("Glaenzend"));
}

#[test]
fn a_profile_without_colours_says_so() {
    let gray = facts(ColorProfile::new_gray_with_gamma(2.2).encode().unwrap());
    assert_eq!((gray.color_space.as_str(), gray.gamut), ("Gray", None));
    assert_eq!(gray.problems, ["there is no outline of the gamut: a gray device has no colours"]);
    let mut link = display_p3();
    link[12..16].copy_from_slice(b"link");
    let link = facts(link);
    assert_eq!((link.class.as_str(), link.gamut), ("Device link", None));
    assert_eq!(link.problems.len(), 1, "{:?}", link.problems);
}

/// A damaged tag takes away no more than what it says itself.
#[test]
fn a_damaged_tag_spoils_no_other_fact() {
    let content = display_p3();
    let count = u32::from_be_bytes(content[128..132].try_into().unwrap()) as usize;
    let entries = (0..count).map(|place| 132 + place * 12);
    for at in entries {
        let signature = String::from_utf8(content[at..at + 4].to_vec()).unwrap();
        let mut damaged = content.clone();
        damaged[at + 4..at + 12].copy_from_slice(&[0xff; 8]);
        let found = facts(damaged);
        assert!(found.problems.iter().any(|problem| problem.contains("outside")), "{signature}: {:?}", found.problems);
        assert_eq!(found.tags.len(), count, "{signature}");
        assert_eq!(found.description.is_some(), signature != "desc", "{signature}");
        let is_needed = ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"].contains(&signature.as_str());
        assert!(found.gamut.is_some() || is_needed, "{signature}: {:?}", found.problems);
    }
}

#[test]
fn a_size_that_the_head_does_not_say_is_named() {
    let mut content = display_p3();
    let size = content.len();
    content.extend([0; 10]);
    let found = facts(content);
    assert!(!found.has_declared_size() && found.gamut.is_some() && found.description.is_some());
    let expected = format!("the head says that the profile has {size} bytes; it has {}", size + 10);
    assert_eq!(found.problems, [expected]);
}

/// The facts of a cut profile: never a panic, and what can't be read has a sentence.
#[test]
fn a_profile_that_is_cut_anywhere_yields_what_it_has() {
    let content = display_p3();
    for length in 0..content.len() {
        let found = facts(content[..length].to_vec());
        assert!(!found.problems.is_empty(), "{length}");
        assert_eq!(found.size, length as u64);
        if length >= 128 {
            assert_eq!((found.class.as_str(), found.color_space.as_str()), ("Display", "RGB"), "{length}");
        }
    }
}

#[test]
fn raised_length_fields_take_neither_memory_nor_time() {
    let content = display_p3();
    let table = 132 + 12 * u32::from_be_bytes(content[128..132].try_into().unwrap()) as usize;
    // The head, the table, and the beginnings of tags, where counts are.
    let tags = (table..content.len() - 4).step_by(16).flat_map(|tag| [tag + 4, tag + 8]);
    for at in (0..table).step_by(4).chain(tags).filter(|at| at + 4 <= content.len()) {
        for value in [u32::MAX, 0x0100_0000] {
            let mut damaged = content.clone();
            damaged[at..at + 4].copy_from_slice(&value.to_be_bytes());
            let found = facts(damaged);
            assert!(found.tags.len() <= 1_000, "{at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_leaves_facts(places in prop::collection::vec((0_usize..4_000, any::<u8>()), 1..40), cut in 0_usize..4_000) {
        let mut content = display_p3();
        for (place, value) in places {
            let place = place % content.len();
            content[place] = value;
        }
        let length = content.len() - cut % content.len();
        let found = facts(content[..length].to_vec());
        let finite = |points: &[LabPoint]| points.iter().all(|point| point.a.is_finite() && point.b.is_finite());
        prop_assert!(found.gamut.is_none_or(|gamut| finite(&gamut.profile) && finite(&gamut.srgb)));
    }

    #[test]
    fn any_content_yields_facts(content in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let size = content.len() as u64;
        prop_assert_eq!(facts(content).size, size);
    }
}

async fn read(content: Vec<u8>, size: u64) -> Result<ProfileFacts, UnreadProfile> {
    let chunks: Vec<_> = content.chunks(1000).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    IccReader::default().read(ProfileSource { content: stream::iter(chunks).boxed(), size }).await
}

#[tokio::test]
async fn only_profiles_of_a_bounded_size_are_read() {
    let content = display_p3();
    let size = content.len() as u64;
    assert_eq!(read(content.clone(), size).await.unwrap(), facts(content.clone()));
    for (content, size, expected) in [
        (content.clone(), MAX_PROFILE_SIZE + 1, "profiles up to 67108864 bytes are read"),
        (content, 500, "it has more bytes than the 500"),
        (b"<html>".to_vec(), 6, "it is no colour profile"),
    ] {
        let Err(UnreadProfile::Unreadable(reason)) = read(content, size).await else { panic!("{expected}") };
        assert!(reason.contains(expected), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_content_that_does_not_arrive_keeps_other_profiles_waiting_for_a_while_only() {
    let reader = IccReader::default();
    let stalled = ProfileSource { content: stream::pending().boxed(), size: 1_000 };
    let content = display_p3();
    let size = content.len() as u64;
    let whole = ProfileSource { content: stream::iter([Ok(Bytes::from(content))]).boxed(), size };
    let (stalled, whole) = tokio::join!(reader.read(stalled), reader.read(whole));
    assert!(matches!(stalled, Err(UnreadProfile::Unavailable(_))), "{stalled:?}");
    assert!(whole.is_ok(), "{whole:?}");
}

/// The profiles of Debian's package icc-profiles-free, where it is installed; those that the tests make carry the
/// assertions above.
#[test]
fn profiles_of_other_makers_are_read() {
    let Ok(folder) = fs::read_dir(Path::new("/usr/share/color/icc")) else { return };
    for path in folder.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let content = fs::read(&path).unwrap();
        if !domain::icc::is_profile(&content) {
            continue;
        }
        let found = facts(content);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!found.class.starts_with("unknown") && !found.tags.is_empty(), "{name}: {found:?}");
        assert!(found.description.is_some(), "{name}: {:?}", found.problems);
        if ["sRGB.icc", "compatibleWithAdobeRGB1998.icc", "LStar-RGB.icc"].contains(&name.as_str()) {
            let gamut = found.gamut.unwrap_or_else(|| panic!("{name}: {:?}", found.problems));
            assert!(area(&gamut.profile) > area(&gamut.srgb) * 0.98, "{name}");
        }
    }
}

#[test]
fn the_samples_of_the_demo_are_whole() {
    let samples = samples();
    assert_eq!(samples.len(), 6);
    for (name, content) in samples {
        let found = facts(content);
        // The library gives its gray profile no description.
        let is_described = found.description.is_some() || name.starts_with("Gray");
        assert!(found.has_declared_size() && is_described, "{name}: {found:?}");
        assert_eq!(found.created, Timestamp::parse("2026-01-02T12:00:00Z"), "{name}");
        assert_eq!(found.gamut.is_some(), !name.starts_with("Gray"), "{name}: {:?}", found.problems);
    }
}
