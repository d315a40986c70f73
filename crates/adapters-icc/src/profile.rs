//! The facts of a profile that is whole in memory.

use super::head::{ENTRY, Entry, HEAD, Head, TABLE, table};
use super::{gamut, names};
use domain::icc::{MAX_PROFILE_SIZE, ProfileFacts, ProfileTag};
use domain::text::{cut, storable};
use moxcms::{ColorProfile, ParsingOptions, ProfileText};

/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 500;

/// Entries of a colour table, and of a tone curve, that the library reads at most.
const MAX_COLOR_TABLE: usize = 10_000_000;
const MAX_TONE_CURVE: usize = 40_000;

/// What the profile says. Takes a few times the memory of the content, and no more than `MAX_PROFILE_SIZE` allows.
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

/// The profile with the tags of these signatures only, so that no other tag spoils it. The table of `content` is
/// overwritten: it becomes shorter.
fn with_tags(content: &mut [u8], entries: &[Entry], signatures: &[&[u8; 4]]) -> Result<ColorProfile, String> {
    let mut chosen: Vec<Entry> = Vec::new();
    for signature in signatures {
        // Of several tags of one signature the first counts.
        chosen.extend(entries.iter().find(|entry| entry.signature == **signature));
    }
    let mut table = u32::try_from(chosen.len()).unwrap_or_default().to_be_bytes().to_vec();
    for entry in &chosen {
        entry.write(&mut table);
    }
    if HEAD + table.len() > content.len() {
        return Err("the table of tags is cut off".to_owned());
    }
    // Tags may share bytes with the entries that are overwritten only if the profile is damaged.
    content[HEAD..HEAD + table.len()].copy_from_slice(&table);
    debug_assert_eq!(table.len(), 4 + chosen.len() * ENTRY);
    let options = ParsingOptions {
        max_profile_size: usize::try_from(MAX_PROFILE_SIZE).unwrap_or(usize::MAX).saturating_add(1),
        max_allowed_clut_size: MAX_COLOR_TABLE,
        max_allowed_trc_size: MAX_TONE_CURVE,
    };
    ColorProfile::new_from_slice_with_options(content, options).map_err(|error| format!("{error}"))
}

/// The English text, else the first one.
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
