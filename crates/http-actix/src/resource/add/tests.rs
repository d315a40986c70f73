//! How a resource is described in JSON (decisions R5, R9, T7–T10, T12).

use super::*;
use domain::resource::StoreResource;
use serde_json::{Value, json};

const GUID: &str = "88de5c02-cce6-411f-950f-be309caa4439";
const CHECKSUM: &str = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709";

fn valid() -> Value {
    json!({ "ResourceGUID": GUID, "ResourceChecksum": CHECKSUM, "ResourceType": "Label", "Meta": { "Name": "Gloss" } })
}

fn read(text: &str) -> Result<StoreResource, Failure> {
    read_description(text.as_bytes()).and_then(StoreResource::new)
}

/// The valid description with one member changed.
fn with(name: &str, value: Value) -> String {
    let mut description = valid();
    description[name] = value;
    description.to_string()
}

fn refused(text: &str) -> Reason {
    match read(text) {
        Err(Failure::Refused(refusal)) => refusal.reason,
        other => panic!("not refused: {text} {other:?}"),
    }
}

/// The members of a Meta, as text.
fn members(meta: &str) -> Vec<String> {
    let text = format!(r#"{{"Meta":{meta}}}"#);
    let members = read_description(text.as_bytes()).unwrap().meta.unwrap();
    let shown = |member: MetaMember| match member {
        MetaMember::Text(name, text) => format!("{} is {text}", name.as_str()),
        MetaMember::Further(name, json) => format!("{name}: {json}"),
    };
    members.into_iter().map(shown).collect()
}

/// Values of every JSON type but the text and the number.
fn other_types() -> [Value; 5] {
    [json!(true), json!(false), json!([]), json!(["a"]), json!({ "a": 1 })]
}

#[test]
fn what_is_no_json_object_is_malformed() {
    // Decision T12.
    for text in ["", "{", "\"text\"", "5", "null", "true", "[]", "[{},{}]", "[[{}]]", "{}}"] {
        assert_eq!(refused(text), Reason::NotProperlyFormatted, "{text}");
    }
    assert!(read(&json!([valid()]).to_string()).is_ok(), "decision R5");
}

#[test]
fn guid_and_checksum_are_texts() {
    // Decisions R5, T7.
    for name in ["ResourceGUID", "ResourceChecksum"] {
        for value in other_types().into_iter().chain([json!(null), json!("")]) {
            assert_eq!(refused(&with(name, value.clone())), Reason::ResourceFieldsRequired, "{name}: {value}");
        }
    }
    // A number counts as text, which is no GUID and no checksum then.
    assert_eq!(refused(&with("ResourceGUID", json!(5))), Reason::ResourceGuidInvalid);
    assert_eq!(refused(&with("ResourceChecksum", json!(5))), Reason::ChecksumMismatch);
}

#[test]
fn a_type_that_is_no_text_is_refused() {
    // Decisions R5, T7: a number is no type.
    for value in other_types().into_iter().chain([json!(5), json!(1.5), json!("")]) {
        assert_eq!(refused(&with("ResourceType", value.clone())), Reason::ResourceFieldsRequired, "{value}");
    }
    assert_eq!(read_description(b"{}").unwrap().resource_type, None);
    assert!(read(&with("ResourceType", json!(null))).is_ok());
}

#[test]
fn a_domain_that_is_no_text_is_refused() {
    // Decisions R5, T10: a number is no word of the interface.
    for value in other_types().into_iter().chain([json!(1), json!("")]) {
        assert_eq!(refused(&with("Domain", value.clone())), Reason::DomainInvalid, "{value}");
    }
    assert!(read(&with("Domain", json!(null))).is_ok());
    assert!(read(&with("Domain", json!("pUBLIC"))).is_ok());
}

#[test]
fn meta_is_an_object() {
    // Decision T8.
    let wrong = [json!(null), json!(5), json!("Gloss"), json!([]), json!([{ "Name": "Gloss" }]), json!({})];
    let no_name = other_types().into_iter().chain([json!(null), json!("")]).map(|name| json!({ "Name": name }));
    for value in wrong.into_iter().chain(no_name) {
        assert_eq!(refused(&with("Meta", value.clone())), Reason::MetaNameRequired, "{value}");
    }
    let profile = |meta: Value| {
        let mut description = valid();
        (description["ResourceType"], description["Meta"]) = (json!("NormalProfile"), meta);
        description.to_string()
    };
    for meta in
        [json!({ "Name": "G", "MediaType": "V", "ProfileGroup": null }), json!({ "Name": "G", "MediaType": ["V"] })]
    {
        assert_eq!(refused(&profile(meta)), Reason::MetaProfileRequired);
    }
    assert!(read(&profile(json!({ "Name": "G", "mediatype": "V", "ProfileGroup": 7 }))).is_ok());
}

#[test]
fn the_five_texts_are_found_without_case_and_a_number_becomes_its_text() {
    // Decisions R5, T8.
    let meta = r#"{"name":1.50,"MEDIATYPE":"M","profilegroup":7,"mEDIA":"Me","MODE":"6c"}"#;
    let expected = ["Name is 1.50", "MediaType is M", "ProfileGroup is 7", "Media is Me", "Mode is 6c"];
    assert_eq!(members(meta), expected);
    // The exact name goes before the name without case, which then is a further member.
    assert_eq!(members(r#"{"name":"lower","Name":"exact"}"#), ["name: \"lower\"", "Name is exact"]);
    assert_eq!(members(r#"{"Name":"N","media":null,"MediaType":5}"#), ["Name is N", "MediaType is 5"]);
}

#[test]
fn further_members_are_handed_on_as_they_were_sent() {
    // Decision T8: none of R5 touches them, but half a surrogate pair and U+0000 are replaced (R9).
    let meta = r#"{"z":1.50,"Name":"N","x":{"b":null,"a":[true, 1E5,"\u00e9\ud83d"]},"nothing":null,"$serde_json::private::Number":"x"}"#;
    let expected = [
        "z: 1.50",
        "Name is N",
        r#"x: {"b":null,"a":[true, 1E5,"\u00e9\ufffd"]}"#,
        "nothing: null",
        r#"$serde_json::private::Number: "x""#,
    ];
    assert_eq!(members(meta), expected);
    assert_eq!(
        members(r#"{"Name":"a\u0000","b\u0000":["\u0000"]}"#),
        ["Name is a\u{FFFD}", "b\u{FFFD}: [\"\\ufffd\"]"]
    );
    assert_eq!(members(r#"{"a":1,"Name":"N","a":3}"#), ["a: 3", "Name is N"], "of members of one name the last counts");
    assert_eq!(
        members(r#"{"a\ud83d":1,"Name":"N","a\udc00":2}"#),
        ["a\u{FFFD}: 2", "Name is N"],
        "R9 makes one name of both"
    );
}

#[test]
fn names_in_another_case_are_understood() {
    // Decision R5.
    let both = format!("{{\"DOMAIN\":\"x\",{}", &with("Domain", json!("Public"))[1..]);
    assert!(read(&both).is_ok(), "an exact name goes before one in another case");
    let lower = valid().to_string().replace("ResourceGUID", "resourceguid").replace("Meta", "meta");
    assert_eq!(read(&lower).unwrap(), read(&valid().to_string()).unwrap());
}
