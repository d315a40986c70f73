//! The part JsonString (decisions R5, R7, R9, T6–T10).

use crate::checksum::Sha1Checksum;
use crate::error::{Outcome, Reason};
use crate::json::Json;
use crate::resource::command::Description;
use crate::resource::{Domain, ResourceType};
use crate::sample::{any_json, any_leaf, detail, json, object, reason, text, with};
use crate::testing::numbered;
use proptest::prelude::*;

const GUID: &str = "88de5c02-cce6-411f-950f-be309caa4439";
const CHECKSUM: &str = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709";

fn valid() -> Json {
    object(&[
        ("ResourceGUID", text(GUID)),
        ("ResourceChecksum", text(CHECKSUM)),
        ("ResourceType", text("Label")),
        ("Meta", object(&[("Name", text("Gloss"))])),
    ])
}

/// What is wrong with the valid body after `name` was set to `value`, or taken out.
fn refused(name: &str, value: Option<Json>) -> Reason {
    reason(Description::read(&with(&valid(), name, value)))
}

fn read(name: &str, value: Option<Json>) -> Outcome<Description> {
    Description::read(&with(&valid(), name, value))
}

/// Values of every JSON type but the text.
fn no_texts() -> [Json; 5] {
    ["true", "false", "[]", "[\"a\"]", "{\"a\":1}"].map(json)
}

#[test]
fn guid_and_checksum_are_required() {
    // Decisions R5, R9, T7.
    for name in ["ResourceGUID", "ResourceChecksum"] {
        for value in [None, Some(Json::Null), Some(text("")), Some(text(" \t\u{3000}"))] {
            assert_eq!(refused(name, value.clone()), Reason::ResourceFieldsRequired, "{name}: {value:?}");
        }
        for value in no_texts() {
            assert_eq!(refused(name, Some(value.clone())), Reason::ResourceFieldsRequired, "{name}: {value}");
        }
        assert!(detail(read(name, None)).contains(name), "decision R11");
    }
}

#[test]
fn a_malformed_guid_says_so() {
    // Decisions R7, R9.
    for sent in ["x", "{", "88de5c02-cce6-411f-950f-be309caa443", "88de5c02-cce6-411f-950f-be309caa4439\0"] {
        assert_eq!(refused("ResourceGUID", Some(text(sent))), Reason::ResourceGuidInvalid, "{sent:?}");
    }
    // Decision R5: a number counts as text, which is no GUID then.
    assert_eq!(refused("ResourceGUID", Some(json("5"))), Reason::ResourceGuidInvalid);
}

#[test]
fn a_malformed_checksum_is_a_mismatch() {
    // Decision T6.
    let malformed =
        [&CHECKSUM[1..], "x", "DA39A3EE5E6B4B0D3255BFEF95601890AFD8070G", " DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"];
    for sent in malformed {
        assert_eq!(refused("ResourceChecksum", Some(text(sent))), Reason::ChecksumMismatch, "{sent:?}");
    }
    assert_eq!(refused("ResourceChecksum", Some(json("5"))), Reason::ChecksumMismatch);
}

#[test]
fn a_type_that_is_absent_is_generic() {
    // Decision T7.
    for value in [None, Some(Json::Null)] {
        assert_eq!(read("ResourceType", value).unwrap().resource_type, ResourceType::generic());
    }
}

#[test]
fn a_type_that_is_blank_or_no_text_is_refused() {
    // Decisions R5, T7: a number is no type.
    let blank = ["", " ", "\u{00a0}\n"].map(text);
    for value in no_texts().into_iter().chain(blank).chain([json("5"), json("1.5")]) {
        assert_eq!(refused("ResourceType", Some(value.clone())), Reason::ResourceFieldsRequired, "{value}");
    }
}

#[test]
fn a_custom_type_is_kept_as_it_was_sent() {
    // Interface 2.1, decision R9.
    assert_eq!(read("ResourceType", Some(text(" Étiquette\0"))).unwrap().resource_type.as_str(), " Étiquette\u{FFFD}");
}

#[test]
fn the_domain_is_private_or_public_without_case() {
    // Decision T10.
    for (sent, domain) in [("Private", Domain::Private), ("pUBLIC", Domain::Public)] {
        assert_eq!(read("Domain", Some(text(sent))).unwrap().domain, Some(domain));
    }
    for absent in [None, Some(Json::Null)] {
        assert_eq!(read("Domain", absent).unwrap().domain, None);
    }
    let others = ["", " ", " Public", "Secret", "Publıc"].map(text);
    for value in no_texts().into_iter().chain(others).chain([json("1")]) {
        assert_eq!(refused("Domain", Some(value.clone())), Reason::DomainInvalid, "{value}");
    }
    for (value, told) in [(text("Secret"), "Domain is \"Secret\""), (json("[1]"), "Domain is [1]")] {
        assert_eq!(detail(read("Domain", Some(value))), told, "decision R11");
    }
}

#[test]
fn meta_and_its_name_are_required() {
    // Decision T8.
    let wrong = ["null", "5", "\"Gloss\"", "[]", "[{\"Name\":\"Gloss\"}]", "{}", "{\"Name\":\"\"}", "{\"Name\":[]}"];
    for value in wrong {
        assert_eq!(refused("Meta", Some(json(value))), Reason::MetaNameRequired, "{value}");
    }
    assert_eq!(refused("Meta", None), Reason::MetaNameRequired);
    assert_eq!(read("Meta", Some(json("{\"NAME\":5}"))).unwrap().meta.name, "5", "decision R5");
}

#[test]
fn a_normal_profile_needs_media_type_and_profile_group() {
    // Decision T8; the type without case (decision R14).
    let profile = with(&valid(), "ResourceType", Some(text("normalPROFILE")));
    let meta = |members: &str| Description::read(&with(&profile, "Meta", Some(json(members))));
    for members in [
        r#"{"Name":"Gloss"}"#,
        r#"{"Name":"Gloss","MediaType":"Vinyl"}"#,
        r#"{"Name":"Gloss","MediaType":"Vinyl","ProfileGroup":null}"#,
        r#"{"Name":"Gloss","MediaType":" ","ProfileGroup":"Latex"}"#,
        r#"{"Name":"Gloss","MediaType":["Vinyl"],"ProfileGroup":"Latex"}"#,
    ] {
        assert_eq!(reason(meta(members)), Reason::MetaProfileRequired, "{members}");
    }
    assert!(meta(r#"{"Name":"Gloss","mediatype":"Vinyl","ProfileGroup":7}"#).is_ok());
}

#[test]
fn the_first_wrong_value_answers() {
    // Decision R1: what is required goes before its form.
    let nothing_right = json(r#"{"ResourceGUID":"x","ResourceChecksum":"x","ResourceType":5,"Domain":"x","Meta":5}"#);
    let mut body = nothing_right;
    let mended = [
        (Reason::ResourceFieldsRequired, "ResourceType", text("Label")),
        (Reason::ResourceGuidInvalid, "ResourceGUID", text(GUID)),
        (Reason::MetaNameRequired, "Meta", json("{\"Name\":\"Gloss\"}")),
        (Reason::DomainInvalid, "Domain", text("Public")),
        (Reason::ChecksumMismatch, "ResourceChecksum", text(CHECKSUM)),
    ];
    for (expected, name, right) in mended {
        assert_eq!(reason(Description::read(&body)), expected);
        body = with(&body, name, Some(right));
    }
    assert!(Description::read(&body).is_ok());
}

#[test]
fn an_exact_name_goes_before_one_in_another_case() {
    // Decision R5.
    let both = format!("{{\"DOMAIN\":\"Private\",{}", &with(&valid(), "Domain", Some(text("Public"))).to_string()[1..]);
    assert_eq!(Description::read(&json(&both)).unwrap().domain, Some(Domain::Public));
    let lower = valid().to_string().replace("ResourceGUID", "resourceguid").replace("Meta", "meta");
    assert_eq!(Description::read(&json(&lower)).unwrap(), Description::read(&valid()).unwrap());
}

#[test]
fn only_one_array_of_one_element_is_unwrapped() {
    // Decision R5.
    let wrapped = Json::Array(vec![valid()]);
    assert_eq!(Description::read(&wrapped).unwrap(), Description::read(&valid()).unwrap());
    for wrong in [Json::Array(vec![wrapped.clone()]), Json::Array(vec![valid(), valid()]), Json::Array(Vec::new())] {
        assert_eq!(reason(Description::read(&wrong)), Reason::ResourceFieldsRequired);
    }
}

const MEMBERS: &[&str] =
    &["ResourceGUID", "ResourceChecksum", "ResourceType", "Domain", "Meta", "Name", "MediaType", "ProfileGroup"];

/// A GUID in one of the forms that clients write.
fn guids() -> impl Strategy<Value = (u128, String)> {
    (any::<u128>(), 0..6).prop_map(|(number, form)| {
        let guid = numbered(number);
        let written = match form {
            0 => guid.as_hyphenated().to_string(),
            1 => guid.as_hyphenated().to_string().to_uppercase(),
            2 => guid.as_simple().to_string(),
            3 => format!("{{{}}}", guid.as_hyphenated()),
            4 => format!("({})", guid.as_hyphenated()),
            _ => format!(" URN:uuid:{} ", guid.as_hyphenated()),
        };
        (number, written)
    })
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(body in any_json(MEMBERS)) {
        if let Err(failure) = Description::read(&body) {
            prop_assert!(matches!(failure, crate::error::Failure::Refused(_)));
        }
    }

    #[test]
    fn any_value_in_a_valid_body_is_read_or_refused(
        name in prop::sample::select(MEMBERS),
        value in prop_oneof![any_leaf(), any_json(MEMBERS)],
    ) {
        if let Err(failure) = read(name, Some(value)) {
            prop_assert!(matches!(failure, crate::error::Failure::Refused(_)));
        }
    }

    /// Decisions R5, R7, T6, T7, T8, T10.
    #[test]
    fn what_is_valid_is_read_as_it_was_meant(
        (number, guid) in guids(),
        content in any::<[u8; 4]>(),
        lower in any::<bool>(),
        resource_type in prop::option::of("[A-Za-z ]{0,9}[A-Za-z]"),
        domain in prop::option::of(prop::sample::select(&[Domain::Private, Domain::Public][..])),
        name in "\\PC{0,20}[a-z]",
        wrapped in any::<bool>(),
    ) {
        let checksum = Sha1Checksum::of(&content);
        let cased = |name: &str| if lower { name.to_lowercase() } else { name.to_owned() };
        let sent = checksum.to_string();
        let mut members = vec![
            ("Other".to_owned(), json("[{}]")),
            (cased("ResourceGUID"), text(&guid)),
            (cased("ResourceChecksum"), text(&if lower { sent.to_lowercase() } else { sent })),
            (cased("Meta"), Json::Object(vec![
                (cased("Name"), text(&name)),
                (cased("MediaType"), text("Vinyl")),
                (cased("ProfileGroup"), text("Latex")),
            ])),
        ];
        members.extend(resource_type.iter().map(|sent| (cased("ResourceType"), text(sent))));
        members.extend(domain.iter().map(|sent| (cased("Domain"), text(&cased(sent.as_str())))));
        let body = Json::Object(members);
        let body = if wrapped { Json::Array(vec![body]) } else { body };

        let description = Description::read(&body).unwrap();
        prop_assert_eq!(description.guid.as_uuid().as_u128(), number);
        prop_assert_eq!(description.checksum, checksum);
        prop_assert_eq!(description.resource_type.as_str(), resource_type.as_deref().unwrap_or("Generic"));
        prop_assert_eq!(description.domain, domain);
        prop_assert_eq!(description.meta.name, name);
    }
}
