//! The bodies of list and PMM lookup (decisions T19, T20).

use crate::error::{Failure, Reason};
use crate::json::Json;
use crate::resource::{Domain, ListFilter, PmmKey};
use crate::sample::{any_json, any_leaf, json, object, reason, text, with};
use crate::testing::pmm_key;
use crate::text::Folded;
use proptest::prelude::*;

fn folded(names: &[&str]) -> Vec<Folded> {
    names.iter().map(|name| Folded::of(name)).collect()
}

fn list(body: &str) -> ListFilter {
    ListFilter::read(&json(body)).unwrap()
}

#[test]
fn resource_types_are_required() {
    // Decision T19.
    let wrong = [
        "{}",
        "[]",
        "5",
        "null",
        r#"{"ResourceTypes":null}"#,
        r#"{"ResourceTypes":[]}"#,
        r#"{"ResourceTypes":[null]}"#,
        r#"{"ResourceTypes":"Label"}"#,
        r#"{"ResourceTypes":{}}"#,
        r#"{"ResourceTypes":["Label",5]}"#,
        r#"{"ResourceTypes":[["Label"]]}"#,
        r#"[{"ResourceTypes":["Label"]},{}]"#,
        r#"["*"]"#,
    ];
    for body in wrong {
        assert_eq!(reason(ListFilter::read(&json(body))), Reason::ResourceTypesRequired, "{body}");
    }
}

#[test]
fn types_are_any_names_without_case() {
    // Decisions R9, T19.
    assert_eq!(list(r#"{"ResourceTypes":["Label"]}"#).types, Some(folded(&["LABEL"])));
    assert_eq!(
        list(r#"[{"resourcetypes":["Äther","äTHER","Label",null,""]}]"#).types,
        Some(folded(&["", "label", "äther"]))
    );
    assert_eq!(list(r#"{"ResourceTypes":["a\u0000"]}"#).types, Some(folded(&["a\u{FFFD}"])), "as the type is stored");
}

#[test]
fn a_star_anywhere_means_all() {
    // Decision T19.
    assert_eq!(list(r#"{"ResourceTypes":["*"]}"#).types, None);
    assert_eq!(list(r#"{"ResourceTypes":["Label","*","Template"]}"#).types, None);
    assert_eq!(
        list(r#"{"ResourceTypes":["**","L*"]}"#).types,
        Some(folded(&["**", "l*"])),
        "no wildcard within a name"
    );
}

#[test]
fn the_domain_of_a_list_is_private_unless_it_is_named() {
    // Decision T19.
    assert_eq!(list(r#"{"ResourceTypes":["*"]}"#).domain, Domain::Private);
    assert_eq!(list(r#"{"ResourceTypes":["*"],"Domain":null}"#).domain, Domain::Private);
    assert_eq!(list(r#"{"ResourceTypes":["*"],"domain":"PUBLIC"}"#).domain, Domain::Public);
    for wrong in ["\"\"", "\"All\"", "1", "[]", "{}", "true", "[\"Public\"]"] {
        let body = format!(r#"{{"ResourceTypes":["*"],"Domain":{wrong}}}"#);
        assert_eq!(reason(ListFilter::read(&json(&body))), Reason::DomainInvalid, "{wrong}");
    }
}

fn pmm() -> Json {
    object(&[("ProfileGroup", text("Latex")), ("Media", text("Vinyl")), ("Mode", text("6 Pass"))])
}

#[test]
fn a_pmm_lookup_is_bare_or_wrapped_in_an_array_of_one() {
    // Interface 4.6, decision T20.
    let key = pmm_key("LATEX", "vinyl", "6 pass");
    assert_eq!(PmmKey::read(&pmm()).unwrap(), key);
    assert_eq!(PmmKey::read(&Json::Array(vec![pmm()])).unwrap(), key);
    for wrong in ["null", "5", "\"Latex\"", "[]", "[5]", "[null]", "[{},{}]", "[[{}]]"] {
        assert_eq!(reason(PmmKey::read(&json(wrong))), Reason::PmmValuesRequired, "{wrong}");
    }
    let nested = Json::Array(vec![Json::Array(vec![pmm()])]);
    assert_eq!(reason(PmmKey::read(&nested)), Reason::PmmValuesRequired);
}

#[test]
fn each_value_of_a_pmm_lookup_is_required() {
    // Decisions R5, T20.
    for name in ["ProfileGroup", "Media", "Mode"] {
        let wrong = ["null", "\"\"", "\" \"", "[]", "{}", "false", "[\"Latex\"]"].map(json);
        for value in wrong.into_iter().map(Some).chain([None]) {
            let outcome = PmmKey::read(&with(&pmm(), name, value.clone()));
            assert_eq!(reason(outcome), Reason::PmmValuesRequired, "{name}: {value:?}");
        }
    }
    let number = with(&pmm(), "Mode", Some(json("1.50")));
    assert_eq!(PmmKey::read(&number).unwrap().mode, Folded::of("1.50"));
}

#[test]
fn a_pmm_value_is_compared_as_it_is_stored() {
    // Decision R9: else it could match nothing, and no database need accept it.
    let sent = with(&pmm(), "Media", Some(text("Vi\0nyl")));
    assert_eq!(PmmKey::read(&sent).unwrap().media, Folded::of("Vi\u{FFFD}nyl"));
}

const MEMBERS: &[&str] = &["ResourceTypes", "Domain", "ProfileGroup", "Media", "Mode"];

proptest! {
    #[test]
    fn any_json_is_read_or_refused(body in any_json(MEMBERS)) {
        let list = ListFilter::read(&body);
        prop_assert!(list.is_ok() || matches!(list, Err(Failure::Refused(_))));
        let pmm = PmmKey::read(&body);
        prop_assert!(pmm.is_ok() || matches!(pmm, Err(Failure::Refused(_))));
    }

    #[test]
    fn any_value_in_a_valid_body_is_read_or_refused(
        name in prop::sample::select(MEMBERS),
        value in prop_oneof![any_leaf(), any_json(MEMBERS)],
    ) {
        let body = with(&with(&pmm(), "ResourceTypes", Some(json("[\"*\"]"))), name, Some(value));
        let list = ListFilter::read(&body);
        prop_assert!(list.is_ok() || matches!(list, Err(Failure::Refused(_))));
        let pmm = PmmKey::read(&body);
        prop_assert!(pmm.is_ok() || matches!(pmm, Err(Failure::Refused(_))));
    }

    /// Decision T19.
    #[test]
    fn every_type_that_is_named_is_listed(names in prop::collection::vec("\\PC{0,12}", 1..6)) {
        let body = object(&[("ResourceTypes", Json::Array(names.iter().map(|name| text(name)).collect()))]);
        let types = ListFilter::read(&body).unwrap().types;
        match types {
            None => prop_assert!(names.iter().any(|name| name == "*")),
            Some(types) => {
                prop_assert!(names.iter().all(|name| types.contains(&Folded::of(name))));
                prop_assert!(types.iter().all(|folded| names.iter().any(|name| Folded::of(name) == *folded)));
            }
        }
    }
}
