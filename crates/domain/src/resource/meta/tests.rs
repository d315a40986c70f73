//! Decisions T2, T8, T9, T20 and R9.

use super::*;
use crate::error::Failure;
use proptest::prelude::*;

fn text(name: MetaText, text: &str) -> MetaMember {
    MetaMember::Text(name, text.to_owned())
}

fn further(name: &str, json: &str) -> MetaMember {
    MetaMember::Further(name.to_owned(), RawValue::from_string(json.to_owned()).unwrap())
}

fn name() -> MetaMember {
    text(MetaText::Name, "N")
}

fn meta(members: &[MetaMember]) -> Meta {
    Meta::new(members.to_vec(), &ResourceType::generic()).unwrap()
}

fn refused(members: &[MetaMember], resource_type: &str) -> (Reason, String) {
    let resource_type = ResourceType::new(resource_type).unwrap();
    let Err(Failure::Refused(refusal)) = Meta::new(members.to_vec(), &resource_type) else {
        panic!("not refused");
    };
    (refusal.reason, refusal.detail.to_string())
}

/// Decision T8.
#[test]
fn a_name_is_required() {
    let blank =
        [text(MetaText::Name, ""), text(MetaText::Name, " \t"), further("Name", "true"), further("Names", "\"N\"")];
    for members in blank.map(|member| vec![member]).into_iter().chain([vec![]]) {
        let (reason, detail) = refused(&members, "Label");
        assert_eq!(reason, Reason::MetaNameRequired, "{members:?}");
        assert_eq!(detail, "Meta.Name is missing or blank");
    }
}

/// Decision T8; the type is compared without case.
#[test]
fn a_normal_profile_requires_media_type_and_profile_group() {
    let (media_type, group) = (text(MetaText::MediaType, "M"), text(MetaText::ProfileGroup, "G"));
    let lacking = [
        (vec![name()], "Meta.MediaType is missing or blank"),
        (vec![name(), group.clone()], "Meta.MediaType is missing or blank"),
        (vec![name(), media_type.clone()], "Meta.ProfileGroup is missing or blank"),
        (vec![name(), media_type.clone(), text(MetaText::ProfileGroup, " ")], "Meta.ProfileGroup is missing or blank"),
        (vec![name(), text(MetaText::Media, "M"), group.clone()], "Meta.MediaType is missing or blank"),
        (vec![name(), further("MediaType", "[\"M\"]"), group.clone()], "Meta.MediaType is missing or blank"),
    ];
    for (members, expected) in lacking {
        for resource_type in ["NormalProfile", "normalPROFILE"] {
            let (reason, detail) = refused(&members, resource_type);
            assert_eq!((reason, detail.as_str()), (Reason::MetaProfileRequired, expected));
        }
        meta(&members);
    }
    // Name comes before them.
    assert_eq!(refused(&[], "NormalProfile").0, Reason::MetaNameRequired);
    let whole = vec![name(), media_type, group];
    assert!(Meta::new(whole, &ResourceType::new("NormalProfile").unwrap()).is_ok());
}

/// Decision T8: members keep their order, and further ones are answered as they were sent.
#[test]
fn further_members_are_answered_as_they_were_sent() {
    let meta = meta(&[
        further("z", "1.50"),
        name(),
        further("nested", "{\"b\":null,\"a\":[true,\"é e\u{301}\", 1E5]}"),
        further("nothing", "null"),
        further("$serde_json::private::Number", "\"x\""),
    ]);
    let answered = "{\"z\":1.50,\"Name\":\"N\",\"nested\":{\"b\":null,\"a\":[true,\"é e\u{301}\", 1E5]},\"nothing\":null,\
                    \"$serde_json::private::Number\":\"x\"}";
    assert_eq!(meta.json, answered);
}

/// Decision T8.
#[test]
fn the_five_texts_are_answered_under_their_names() {
    let meta = meta(&[
        text(MetaText::Name, "1.50"),
        text(MetaText::MediaType, "M"),
        text(MetaText::ProfileGroup, "7"),
        text(MetaText::Media, "Me"),
        text(MetaText::Mode, "6c"),
    ]);
    assert_eq!(meta.name, "1.50");
    assert_eq!(meta.json, r#"{"Name":"1.50","MediaType":"M","ProfileGroup":"7","Media":"Me","Mode":"6c"}"#);
}

/// Decision T9.
#[test]
fn media_type_is_also_answered_as_media() {
    let media_type = text(MetaText::MediaType, "M");
    assert_eq!(meta(&[name(), media_type.clone()]).json, r#"{"Name":"N","MediaType":"M","Media":"M"}"#);
    let own = meta(&[name(), text(MetaText::Media, "Own"), media_type.clone()]);
    assert_eq!(own.json, r#"{"Name":"N","Media":"Own","MediaType":"M"}"#);
    let odd = meta(&[name(), further("media", "[5]"), media_type]);
    assert_eq!(odd.json, r#"{"Name":"N","media":[5],"MediaType":"M"}"#);
}

/// Decision R9.
#[test]
fn zero_characters_of_texts_and_names_are_replaced() {
    let meta = meta(&[text(MetaText::Name, "N\0"), further("x\0", "1")]);
    assert_eq!(meta.name, "N\u{FFFD}");
    assert_eq!(meta.json, "{\"Name\":\"N\u{FFFD}\",\"x\u{FFFD}\":1}");
}

/// Decision R9: texts are otherwise kept byte for byte, untrimmed.
#[test]
fn texts_are_kept_untrimmed() {
    let meta = meta(&[text(MetaText::Name, "  N \r\n")]);
    assert_eq!(meta.name, "  N \r\n");
    assert_eq!(meta.json, "{\"Name\":\"  N \\r\\n\"}");
}

/// Decision T20: values are compared without case; all three have to be there.
#[test]
fn the_pmm_values_are_group_media_and_mode() {
    let folded = meta(&[
        name(),
        text(MetaText::ProfileGroup, "Straße"),
        text(MetaText::MediaType, "M"),
        text(MetaText::Mode, "6"),
    ]);
    let expected = PmmKey { profile_group: Folded::of("STRASSE"), media: Folded::of("m"), mode: Folded::of("6") };
    assert_eq!(folded.pmm, Some(expected));
    let all = [MetaText::ProfileGroup, MetaText::Media, MetaText::Mode];
    for absent in all {
        let mut members = vec![name()];
        members.extend(all.into_iter().filter(|name| *name != absent).map(|name| text(name, "V")));
        assert_eq!(meta(&members).pmm, None, "{absent:?}");
        members.push(further(absent.as_str(), "true"));
        assert_eq!(meta(&members).pmm, None, "{absent:?}");
    }
}

/// Decision T2: the exact repeat is known by Meta as a JSON value.
#[test]
fn metadata_is_compared_as_a_json_value() {
    let sent = meta(&[name(), further("x", "1.0"), further("y", "{\"a\":null,\"b\":\"c\"}")]);
    let again = meta(&[further("y", "{ \"b\":\"c\", \"a\":null }"), further("x", "1"), name()]);
    assert!(sent.is_same_value(&again));
    let changes = [
        [name(), further("x", "1.0"), further("y", "{\"a\":null,\"b\":\"C\"}")],
        [text(MetaText::Name, "n"), further("x", "1.0"), further("y", "{\"a\":null,\"b\":\"c\"}")],
        [name(), further("x", "\"1.0\""), further("y", "{\"a\":null,\"b\":\"c\"}")],
        [name(), further("x", "1.0"), further("y", "{\"b\":\"c\"}")],
    ];
    for change in changes {
        assert!(!meta(&change).is_same_value(&sent), "{change:?}");
    }
}

proptest! {
    /// Decision T8: what is answered is JSON with the members that were sent.
    #[test]
    fn what_is_answered_holds_what_was_sent(
        name in "[^ \\x00]\\PC{0,20}",
        others in prop::collection::btree_map("x[a-z\\x01-\\x1f\"\\\\ä🖨]{0,5}", "[^\\x00]{0,20}", 0..6),
    ) {
        prop_assume!(!is_blank(&name));
        let mut members = vec![text(MetaText::Name, &name)];
        members.extend(others.iter().map(|(name, value)| further(name, &to_json(value))));
        let meta = meta(&members);
        let answered: std::collections::BTreeMap<String, String> = serde_json::from_str(&meta.json).unwrap();
        let mut expected = others;
        expected.insert("Name".to_owned(), name);
        prop_assert_eq!(answered, expected);
    }
}

#[test]
fn members_are_shown_by_name_texts_as_they_are() {
    let meta = meta(&[text(MetaText::Mode, "a \"b\"\n"), name(), further("x", r#"{"a":[1.50,"<b>"]}"#)]);
    let shown = meta.members();
    let shown: Vec<(&str, &str)> = shown.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(shown, [("Mode", "a \"b\"\n"), ("Name", "N"), ("x", r#"{"a":[1.50,"<b>"]}"#)]);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let meta = self::meta(&[name(), further("deep", &deep)]);
    assert_eq!(meta.members()[1], ("deep".to_owned(), deep));
}
