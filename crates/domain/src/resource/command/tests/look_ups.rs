//! Lists and PMM lookups (decisions T19, T20).

use crate::error::{Outcome, Reason};
use crate::resource::{Domain, ListFilter, PmmKey};
use crate::sample::reason;
use crate::testing::pmm_key;
use crate::text::Folded;
use proptest::prelude::*;

fn folded(names: &[&str]) -> Vec<Folded> {
    names.iter().map(|name| Folded::of(name)).collect()
}

fn list(types: &[&str], domain: Option<&str>) -> Outcome<ListFilter> {
    let types: Vec<String> = types.iter().map(|name| (*name).to_owned()).collect();
    ListFilter::new(&types, domain)
}

#[test]
fn resource_types_are_required() {
    // Decision T19.
    assert_eq!(reason(list(&[], None)), Reason::ResourceTypesRequired);
}

#[test]
fn types_are_any_names_without_case() {
    // Decisions R9, T19.
    assert_eq!(list(&["Label"], None).unwrap().types, Some(folded(&["LABEL"])));
    assert_eq!(list(&["Äther", "äTHER", "Label", ""], None).unwrap().types, Some(folded(&["", "label", "äther"])));
    assert_eq!(list(&["a\0"], None).unwrap().types, Some(folded(&["a\u{FFFD}"])), "as the type is stored");
}

#[test]
fn a_star_anywhere_means_all() {
    // Decision T19.
    assert_eq!(list(&["*"], None).unwrap().types, None);
    assert_eq!(list(&["Label", "*", "Template"], None).unwrap().types, None);
    assert_eq!(list(&["**", "L*"], None).unwrap().types, Some(folded(&["**", "l*"])), "no wildcard within a name");
}

#[test]
fn the_domain_of_a_list_is_private_unless_it_is_named() {
    // Decision T19.
    assert_eq!(list(&["*"], None).unwrap().domain, Domain::Private);
    assert_eq!(list(&["*"], Some("PUBLIC")).unwrap().domain, Domain::Public);
    for wrong in ["", "All", "1", "[\"Public\"]"] {
        assert_eq!(reason(list(&["*"], Some(wrong))), Reason::DomainInvalid, "{wrong}");
    }
}

fn pmm(values: [Option<&str>; 3]) -> Outcome<PmmKey> {
    let [profile_group, media, mode] = values.map(|value| value.map(str::to_owned));
    PmmKey::new(profile_group, media, mode)
}

#[test]
fn each_value_of_a_pmm_lookup_is_required() {
    // Decision T20.
    let all = [Some("Latex"), Some("Vinyl"), Some("6 Pass")];
    assert_eq!(pmm(all).unwrap(), pmm_key("LATEX", "vinyl", "6 pass"));
    for place in 0..3 {
        for wrong in [None, Some(""), Some(" ")] {
            let mut values = all;
            values[place] = wrong;
            assert_eq!(reason(pmm(values)), Reason::PmmValuesRequired, "{values:?}");
        }
    }
}

#[test]
fn a_pmm_value_is_compared_as_it_is_stored() {
    // Decision R9: else it could match nothing, and no database need accept it.
    let key = pmm([Some("Latex"), Some("Vi\0nyl"), Some("6 Pass")]).unwrap();
    assert_eq!(key.media, Folded::of("Vi\u{FFFD}nyl"));
}

proptest! {
    /// Decision T19.
    #[test]
    fn every_type_that_is_named_is_listed(names in prop::collection::vec("\\PC{0,12}", 1..6)) {
        match ListFilter::new(&names, None).unwrap().types {
            None => prop_assert!(names.iter().any(|name| name == "*")),
            Some(types) => {
                prop_assert!(names.iter().all(|name| types.contains(&Folded::of(name))));
                prop_assert!(types.iter().all(|folded| names.iter().any(|name| Folded::of(name) == *folded)));
            }
        }
    }
}
