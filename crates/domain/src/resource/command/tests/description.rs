//! What describes a resource that is to be stored (decisions R7, R9, T6–T10).

use crate::error::{Outcome, Reason};
use crate::resource::{Domain, MetaMember, MetaText, ResourceType, StoreResource, StoreResourceInput};
use crate::sample::{detail, reason};
use crate::testing::numbered;
use proptest::prelude::*;

/// Mends one fault of an input.
type Mend = fn(&mut StoreResourceInput);

const GUID: &str = "88de5c02-cce6-411f-950f-be309caa4439";
const CHECKSUM: &str = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709";

fn gloss() -> Vec<MetaMember> {
    vec![MetaMember::Text(MetaText::Name, "Gloss".to_owned())]
}

fn valid() -> StoreResourceInput {
    let text = |text: &str| Some(text.to_owned());
    StoreResourceInput {
        guid: text(GUID),
        checksum: text(CHECKSUM),
        resource_type: text("Label"),
        domain: None,
        meta: Some(gloss()),
    }
}

fn with(change: impl FnOnce(&mut StoreResourceInput)) -> Outcome<StoreResource> {
    let mut input = valid();
    change(&mut input);
    StoreResource::new(input)
}

#[test]
fn guid_and_checksum_are_required() {
    // Decisions R9, T7.
    for blank in [None, Some(""), Some(" \t\u{3000}")] {
        let blank = || blank.map(str::to_owned);
        assert_eq!(reason(with(|input| input.guid = blank())), Reason::ResourceFieldsRequired);
        assert_eq!(reason(with(|input| input.checksum = blank())), Reason::ResourceFieldsRequired);
    }
    assert!(detail(with(|input| input.guid = None)).contains("ResourceGUID"), "decision R11");
    assert!(detail(with(|input| input.checksum = None)).contains("ResourceChecksum"), "decision R11");
}

#[test]
fn a_malformed_guid_says_so() {
    // Decisions R7, R9.
    for sent in ["x", "{", "5", "88de5c02-cce6-411f-950f-be309caa443", "88de5c02-cce6-411f-950f-be309caa4439\0"] {
        let outcome = with(|input| input.guid = Some(sent.to_owned()));
        assert_eq!(reason(outcome), Reason::ResourceGuidInvalid, "{sent:?}");
    }
}

#[test]
fn a_malformed_checksum_is_a_mismatch() {
    // Decision T6.
    let odd = ["DA39A3EE5E6B4B0D3255BFEF95601890AFD8070G", " DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"];
    for sent in [&CHECKSUM[1..], "x", "5"].into_iter().chain(odd) {
        let outcome = with(|input| input.checksum = Some(sent.to_owned()));
        assert_eq!(reason(outcome), Reason::ChecksumMismatch, "{sent:?}");
    }
}

#[test]
fn a_type_that_is_absent_is_generic() {
    // Decision T7.
    assert_eq!(with(|input| input.resource_type = None).unwrap().resource_type, ResourceType::generic());
}

#[test]
fn a_type_that_is_blank_is_refused() {
    // Decision T7.
    for blank in ["", " ", "\u{00a0}\n"] {
        let outcome = with(|input| input.resource_type = Some(blank.to_owned()));
        assert_eq!(reason(outcome), Reason::ResourceFieldsRequired, "{blank:?}");
    }
}

#[test]
fn a_custom_type_is_kept_as_it_was_sent() {
    // Interface 2.1, decision R9.
    let command = with(|input| input.resource_type = Some(" Étiquette\0".to_owned())).unwrap();
    assert_eq!(command.resource_type.as_str(), " Étiquette\u{FFFD}");
}

#[test]
fn the_domain_is_private_or_public_without_case() {
    // Decision T10.
    let domain = |sent: &str| with(|input| input.domain = Some(sent.to_owned()));
    for (sent, expected) in [("Private", Domain::Private), ("pUBLIC", Domain::Public)] {
        assert_eq!(domain(sent).unwrap().domain, Some(expected));
    }
    assert_eq!(with(|_| ()).unwrap().domain, None);
    for wrong in ["", " ", " Public", "Secret", "Publıc", "1", "[1]"] {
        assert_eq!(reason(domain(wrong)), Reason::DomainInvalid, "{wrong}");
    }
    assert_eq!(detail(domain("Secret")), "Domain is \"Secret\"", "decision R11");
}

#[test]
fn meta_and_its_name_are_required() {
    // Decision T8.
    for meta in [None, Some(vec![])] {
        assert_eq!(reason(with(|input| input.meta = meta)), Reason::MetaNameRequired);
    }
}

#[test]
fn a_normal_profile_needs_media_type_and_profile_group() {
    // Decision T8; the type without case (decision R14).
    let profile = |members: &[(MetaText, &str)]| {
        with(|input| {
            let members = members.iter().map(|(name, text)| MetaMember::Text(*name, (*text).to_owned()));
            input.meta = Some(gloss().into_iter().chain(members).collect());
            input.resource_type = Some("normalPROFILE".to_owned());
        })
    };
    assert_eq!(reason(profile(&[])), Reason::MetaProfileRequired);
    assert!(profile(&[(MetaText::MediaType, "Vinyl"), (MetaText::ProfileGroup, "7")]).is_ok());
}

#[test]
fn the_first_wrong_value_answers() {
    // Decision R1: what is required goes before its form.
    let wrong = || Some("x".to_owned());
    let mut input = StoreResourceInput {
        guid: wrong(),
        checksum: wrong(),
        resource_type: Some(String::new()),
        domain: wrong(),
        meta: None,
    };
    let steps: [(Reason, Mend); 5] = [
        (Reason::ResourceFieldsRequired, |input| input.resource_type = Some("Label".to_owned())),
        (Reason::ResourceGuidInvalid, |input| input.guid = Some(GUID.to_owned())),
        (Reason::MetaNameRequired, |input| input.meta = Some(gloss())),
        (Reason::DomainInvalid, |input| input.domain = Some("Public".to_owned())),
        (Reason::ChecksumMismatch, |input| input.checksum = Some(CHECKSUM.to_owned())),
    ];
    for (expected, mend) in steps {
        assert_eq!(reason(StoreResource::new(input.clone())), expected);
        mend(&mut input);
    }
    assert!(StoreResource::new(input).is_ok());
}

proptest! {
    #[test]
    fn what_is_valid_is_taken_as_it_was_meant(
        number in any::<u128>(),
        content in any::<Vec<u8>>(),
        resource_type in prop::option::of("[^\\x00 ]{1,12}x"),
        domain in prop::option::of(prop::sample::select(&[Domain::Private, Domain::Public][..])),
        name in "[^\\x00]{0,12}x",
    ) {
        let checksum = crate::checksum::Sha1Checksum::of(&content);
        let command = StoreResource::new(StoreResourceInput {
            guid: Some(numbered(number).to_string()),
            checksum: Some(checksum.to_string().to_lowercase()),
            resource_type: resource_type.clone(),
            domain: domain.map(|domain| domain.to_string()),
            meta: Some(vec![MetaMember::Text(MetaText::Name, name.clone())]),
        });
        prop_assume!(resource_type.as_deref() != Some("NormalProfile"));
        let command = command.unwrap();
        prop_assert_eq!(command.guid.as_uuid().as_u128(), number);
        prop_assert_eq!(command.checksum, checksum);
        prop_assert_eq!(command.resource_type.as_str(), resource_type.as_deref().unwrap_or("Generic"));
        prop_assert_eq!(command.domain, domain);
        prop_assert_eq!(command.meta.name, name);
    }
}
