//! Reads the facts of a profile from memory.

use super::head::{ENTRY, Entry, HEAD, Head, TABLE, table};
use super::{gamut, names};
use domain::icc::{MAX_PROFILE_SIZE, ProfileFacts, ProfileTag};
use domain::text::{cut, storable};
use moxcms::{ColorProfile, ParsingOptions, ProfileText};

/// Limit for the description in characters; the rest is cut off.
const MAX_DESCRIPTION: usize = 500;

/// Limits for the entries of a colour table, and of a tone curve. The library refuses larger ones.
const MAX_COLOR_TABLE: usize = 10_000_000;
const MAX_TONE_CURVE: usize = 40_000;

/// Reads the facts of a profile. This takes a few times the memory of `content`, which has at most
/// [`MAX_PROFILE_SIZE`] bytes.
#[must_use]
pub fn facts(mut content: Vec<u8>) -> ProfileFacts {
    let head = Head::read(&content);
    let (entries, problems) = table(&content);
    let tag = |entry: &Entry| ProfileTag {
        signature: names::signature(entry.signature),
        name: names::tag(entry.signature),
        offset: entry.offset.into(),
        size: entry.size.into(),
        is_inside: entry.is_inside(content.len()),
    };
    let mut facts = ProfileFacts {
        version: head.version,
        class: names::class(head.class),
        color_space: names::color_space(head.color_space),
        connection_space: names::color_space(head.connection_space),
        description: None,
        created: head.created,
        rendering_intent: names::rendering_intent(head.rendering_intent),
        size: content.len() as u64,
        declared_size: head.size.into(),
        tags: entries.iter().map(tag).collect(),
        gamut: None,
        problems,
    };
    if content.len() < TABLE {
        return facts;
    }
    if !facts.has_declared_size() {
        let (declared, size) = (facts.declared_size, facts.size);
        facts.problems.insert(0, format!("the head says that the profile has {declared} bytes; it has {size}"));
    }
    if facts.created.is_none() {
        facts.problems.push("the creation date is no date".to_owned());
    }
    let inside: Vec<Entry> = entries.into_iter().filter(|entry| entry.is_inside(content.len())).collect();
    match with_tags(&mut content, &inside, &[b"desc"]) {
        Ok(profile) => facts.description = profile.description.as_ref().and_then(text),
        Err(reason) => facts.problems.push(format!("the description can't be read: {reason}")),
    }
    match with_tags(&mut content, &inside, gamut::TAGS).and_then(|profile| gamut::of(&profile, head.class)) {
        Ok(found) => facts.gamut = Some(found),
        Err(reason) => facts.problems.push(format!("there is no outline of the gamut: {reason}")),
    }
    facts
}

/// Parses the profile with the tags of these signatures only, so that a damaged tag among the others does no harm.
/// Overwrites the table of tags in `content` with a shorter one.
fn with_tags(content: &mut [u8], entries: &[Entry], signatures: &[&[u8; 4]]) -> Result<ColorProfile, String> {
    let mut chosen: Vec<Entry> = Vec::new();
    for signature in signatures {
        // The first tag of a signature counts.
        chosen.extend(entries.iter().find(|entry| entry.signature == **signature));
    }
    let mut table = u32::try_from(chosen.len()).unwrap_or_default().to_be_bytes().to_vec();
    for entry in &chosen {
        entry.write(&mut table);
    }
    if HEAD + table.len() > content.len() {
        return Err("the table of tags is cut off".to_owned());
    }
    // Only in a damaged profile do tags lie within the table, and change with it.
    content[HEAD..HEAD + table.len()].copy_from_slice(&table);
    debug_assert_eq!(table.len(), 4 + chosen.len() * ENTRY);
    let options = ParsingOptions {
        max_profile_size: usize::try_from(MAX_PROFILE_SIZE).unwrap_or(usize::MAX).saturating_add(1),
        max_allowed_clut_size: MAX_COLOR_TABLE,
        max_allowed_trc_size: MAX_TONE_CURVE,
    };
    ColorProfile::new_from_slice_with_options(content, options).map_err(|error| format!("{error}"))
}

/// The English text of a description, else the first text.
fn text(description: &ProfileText) -> Option<String> {
    let text = match description {
        ProfileText::PlainString(text) => text,
        ProfileText::Localizable(texts) => {
            let english = texts.iter().find(|text| text.language == "en");
            &english.or(texts.first())?.value
        }
        ProfileText::Description(text) if text.ascii_string.trim_matches(['\0', ' ']).is_empty() => {
            &text.unicode_string
        }
        ProfileText::Description(text) => &text.ascii_string,
    };
    let text = cut(&storable(text.trim_matches(['\0', ' '])), MAX_DESCRIPTION);
    (!text.is_empty()).then_some(text)
}
