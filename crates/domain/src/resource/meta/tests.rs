//! Decisions T2, T8, T9, T20 and R9.

use super::*;
use crate::error::Failure;
use proptest::prelude::*;

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn number(spelling: &str) -> Json {
    Json::Number(spelling.to_owned())
}

fn object(members: &[(&str, Json)]) -> Json {
    Json::Object(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn read(members: &[(&str, Json)]) -> Meta {
    Meta::read(Some(&object(members)), &ResourceType::generic()).unwrap()
}

fn refused(sent: Option<&Json>, resource_type: &str) -> (Reason, String) {
    let resource_type = ResourceType::new(resource_type).unwrap();
    let Err(Failure::Refused(refusal)) = Meta::read(sent, &resource_type) else {
        panic!("not refused");
    };
    (refusal.reason, refusal.detail.to_string())
}

/// Decision T8.
#[test]
fn a_name_is_required() {
    let (reason, detail) = refused(None, "Label");
    assert_eq!((reason, detail.as_str()), (Reason::MetaNameRequired, "Meta is missing"));
    for sent in [Json::Null, text("Name"), Json::Array(vec![object(&[("Name", text("N"))])])] {
        assert_eq!(refused(Some(&sent), "Label").0, Reason::MetaNameRequired, "{sent}");
    }
    let names = [text(""), text(" \t"), Json::Null, Json::Bool(true), object(&[]), Json::Array(vec![text("N")])];
    for name in names {
        let (reason, detail) = refused(Some(&object(&[("Name", name.clone())])), "Label");
        assert_eq!(reason, Reason::MetaNameRequired, "{name}");
        assert_eq!(detail, "Meta.Name is missing or blank");
    }
    assert_eq!(refused(Some(&object(&[("Names", text("N"))])), "Label").0, Reason::MetaNameRequired);
}

/// Decision T8; the type is compared without case.
#[test]
fn a_normal_profile_requires_media_type_and_profile_group() {
    let [name, media_type, group] = [("Name", text("N")), ("MediaType", text("M")), ("ProfileGroup", text("G"))];
    let lacking = [
        (vec![name.clone()], "Meta.MediaType is missing or blank"),
        (vec![name.clone(), group.clone()], "Meta.MediaType is missing or blank"),
        (vec![name.clone(), media_type.clone()], "Meta.ProfileGroup is missing or blank"),
        (vec![name.clone(), media_type.clone(), ("ProfileGroup", text(" "))], "Meta.ProfileGroup is missing or blank"),
        (vec![name.clone(), ("Media", text("M")), group.clone()], "Meta.MediaType is missing or blank"),
    ];
    for (members, expected) in lacking {
        for resource_type in ["NormalProfile", "normalPROFILE"] {
            let (reason, detail) = refused(Some(&object(&members)), resource_type);
            assert_eq!((reason, detail.as_str()), (Reason::MetaProfileRequired, expected));
        }
        assert!(Meta::read(Some(&object(&members)), &ResourceType::generic()).is_ok());
    }
    // Name comes before them.
    assert_eq!(refused(Some(&object(&[])), "NormalProfile").0, Reason::MetaNameRequired);
    let whole = object(&[name, media_type, group]);
    assert!(Meta::read(Some(&whole), &ResourceType::new("NormalProfile").unwrap()).is_ok());
}

/// Decision T8: further members of any type are kept and answered as sent.
#[test]
fn further_members_are_answered_as_they_were_sent() {
    let meta = read(&[
        ("z", number("1.50")),
        ("Name", text("N")),
        ("nested", object(&[("b", Json::Null), ("a", Json::Array(vec![Json::Bool(true), text("é e\u{301}")]))])),
        ("nothing", Json::Null),
    ]);
    let answered = "{\"z\":1.50,\"Name\":\"N\",\"nested\":{\"b\":null,\"a\":[true,\"é e\u{301}\"]},\"nothing\":null}";
    assert_eq!(meta.json, answered);
}

/// Decision T8: answered under exactly these names, a number as its text.
#[test]
fn the_five_texts_are_answered_under_their_names_as_texts() {
    let meta = read(&[
        ("name", number("1.50")),
        ("MEDIATYPE", text("M")),
        ("profilegroup", number("7")),
        ("mEDIA", text("Me")),
        ("MODE", text("6c")),
    ]);
    assert_eq!(meta.name, "1.50");
    let answered = r#"{"Name":"1.50","MediaType":"M","ProfileGroup":"7","Media":"Me","Mode":"6c"}"#;
    assert_eq!(meta.json, answered);
}

/// Decision R5: the exact name goes before the name without case, which then is a further member.
#[test]
fn the_exact_name_goes_before_the_name_without_case() {
    let meta = read(&[("name", text("lower")), ("Name", text("exact"))]);
    assert_eq!(meta.name, "exact");
    assert_eq!(meta.json, r#"{"name":"lower","Name":"exact"}"#);
}

/// Decision T9.
#[test]
fn media_type_is_also_answered_as_media() {
    let meta = read(&[("Name", text("N")), ("MediaType", text("M"))]);
    assert_eq!(meta.json, r#"{"Name":"N","MediaType":"M","Media":"M"}"#);
    let own = read(&[("Name", text("N")), ("media", text("Own")), ("MediaType", text("M"))]);
    assert_eq!(own.json, r#"{"Name":"N","Media":"Own","MediaType":"M"}"#);
    let null = read(&[("Name", text("N")), ("media", Json::Null), ("MediaType", number("5"))]);
    assert_eq!(null.json, r#"{"Name":"N","MediaType":"5","Media":"5"}"#);
}

/// Decision R9: U+0000 becomes U+FFFD everywhere in Meta, names of members included.
#[test]
fn zero_characters_are_replaced_everywhere() {
    let nested = Json::Array(vec![object(&[("a\0", text("b\0"))])]);
    let meta = read(&[("Name", text("N\0")), ("x\0", nested)]);
    assert_eq!(meta.name, "N\u{FFFD}");
    assert_eq!(meta.json, "{\"Name\":\"N\u{FFFD}\",\"x\u{FFFD}\":[{\"a\u{FFFD}\":\"b\u{FFFD}\"}]}");
}

/// Decision R9: texts are otherwise kept byte for byte, untrimmed.
#[test]
fn texts_are_kept_untrimmed() {
    let meta = read(&[("Name", text("  N \r\n"))]);
    assert_eq!(meta.name, "  N \r\n");
    assert_eq!(meta.json, "{\"Name\":\"  N \\r\\n\"}");
}

/// Decision T20: values are compared without case; all three have to be there.
#[test]
fn the_pmm_values_are_group_media_and_mode() {
    let meta =
        read(&[("Name", text("N")), ("ProfileGroup", text("Straße")), ("MediaType", text("M")), ("Mode", number("6"))]);
    let expected = PmmKey { profile_group: Folded::of("STRASSE"), media: Folded::of("m"), mode: Folded::of("6") };
    assert_eq!(meta.pmm, Some(expected));
    let all = [("ProfileGroup", text("G")), ("Media", text("M")), ("Mode", text("6"))];
    for absent in 0..all.len() {
        let mut members = vec![("Name", text("N"))];
        members.extend(all.iter().enumerate().filter(|(place, _)| *place != absent).map(|(_, member)| member.clone()));
        assert_eq!(read(&members).pmm, None, "{absent}");
        members.push((all[absent].0, Json::Bool(true)));
        assert_eq!(read(&members).pmm, None, "{absent}");
    }
}

/// Decision T2: the exact repeat is told by Meta as a JSON value.
#[test]
fn equal_values_have_equal_digests() {
    let sent =
        read(&[("Name", text("N")), ("x", number("1.0")), ("y", object(&[("a", Json::Null), ("b", text("c"))]))]);
    let again = read(&[("y", object(&[("b", text("c")), ("a", Json::Null)])), ("x", number("1")), ("Name", text("N"))]);
    assert_eq!(sent.digest, again.digest);
    let changes: [&[(&str, Json)]; 4] = [
        &[("Name", text("N")), ("x", number("1.0")), ("y", object(&[("a", Json::Null), ("b", text("C"))]))],
        &[("Name", text("n")), ("x", number("1.0")), ("y", object(&[("a", Json::Null), ("b", text("c"))]))],
        &[("Name", text("N")), ("x", text("1.0")), ("y", object(&[("a", Json::Null), ("b", text("c"))]))],
        &[("Name", text("N")), ("x", number("1.0")), ("y", object(&[("b", text("c"))]))],
    ];
    for change in changes {
        assert_ne!(read(change).digest, sent.digest, "{change:?}");
    }
}

proptest! {
    /// Decision T8: what is answered is JSON with the same members, and reading it again changes nothing.
    #[test]
    fn what_is_answered_is_read_again_as_the_same(
        name in "[^ ]\\PC{0,20}",
        others in prop::collection::btree_map("x[a-z\\x00-\\x1f\"\\\\ä🖨]{0,5}", ".{0,20}", 0..6),
        profile in prop::option::of(("\\PC{1,9}", "\\PC{1,9}", "\\PC{1,9}")),
    ) {
        prop_assume!(!is_blank(&name));
        let mut members: Vec<(&str, Json)> = vec![("Name", text(&name))];
        members.extend(others.iter().map(|(name, value)| (name.as_str(), text(value))));
        if let Some((group, media_type, mode)) = &profile {
            members.extend([("ProfileGroup", text(group)), ("MediaType", text(media_type)), ("Mode", text(mode))]);
        }
        let meta = read(&members);
        prop_assert_eq!(meta.pmm.is_some(), profile.is_some());
        let answered: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&meta.json).unwrap();
        let again: Vec<(&str, Json)> =
            answered.iter().map(|(name, value)| (name.as_str(), text(value.as_str().unwrap()))).collect();
        prop_assert_eq!(read(&again), meta);
    }
}
