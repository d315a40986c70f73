//! Decision R7.

use super::*;
use proptest::prelude::*;

const CANONICAL: &str = "6f9619ff-8b86-d011-b42d-00c04fc964ff";

/// Decision R7.
#[test]
fn every_form_is_one_guid_and_answers_give_lower_case_with_hyphens() {
    let forms = [
        "6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "6f9619ff8b86d011b42d00c04fc964ff",
        "6F9619FF8B86D011B42D00C04FC964FF",
        "{6F9619FF-8B86-D011-B42D-00C04FC964FF}",
        "{6f9619ff8b86d011b42d00c04fc964ff}",
        "(6f9619ff-8b86-d011-b42d-00c04fc964ff)",
        "urn:uuid:6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "URN:UUID:6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "  6f9619ff-8b86-d011-b42d-00c04fc964ff\t",
        " { 6f9619ff-8b86-d011-b42d-00c04fc964ff } ",
    ];
    for form in forms {
        assert_eq!(ResourceGuid::parse(form).map(|guid| guid.to_string()).as_deref(), Some(CANONICAL), "{form:?}");
    }
}

/// Decisions R7, R9.
#[test]
fn malformed_guids_are_refused() {
    let malformed = [
        "",
        " ",
        "{}",
        "{",
        "}",
        "()",
        "urn:uuid:",
        "6f9619ff-8b86-d011-b42d-00c04fc964f",
        "6f9619ff-8b86-d011-b42d-00c04fc964fff",
        "6f9619ff-8b86-d011-b42d-00c04fc964fg",
        "6f9619ff8b86d011b42d00c04fc964f",
        "6f9619ff8b86d011b42d00c04fc964ff0",
        "6f9619ff8-b86-d011-b42d-00c04fc964ff",
        "6f9619ff-8b86d011-b42d-00c04fc964ff",
        "6f9619ff_8b86_d011_b42d_00c04fc964ff",
        "{6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "6f9619ff-8b86-d011-b42d-00c04fc964ff}",
        "{6f9619ff-8b86-d011-b42d-00c04fc964ff)",
        "{{6f9619ff-8b86-d011-b42d-00c04fc964ff}}",
        "urn:uuid:{6f9619ff-8b86-d011-b42d-00c04fc964ff}",
        "{urn:uuid:6f9619ff-8b86-d011-b42d-00c04fc964ff}",
        "urn:6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "6f9619ff-8b86-d011-b42d-00c04fc964f\0",
        "\u{0}6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "６f9619ff-8b86-d011-b42d-00c04fc964ff",
        "6f9619ff-8b86-d011-b42d-00c04fc964ff/../x",
        "6f9619ff-8b86-d011-b42d-00c04fc964ff, 6f9619ff-8b86-d011-b42d-00c04fc964ff",
    ];
    for text in malformed {
        assert_eq!(ResourceGuid::parse(text), None, "{text:?}");
    }
}

/// A GUID sorts as a number of 128 bits, as lists and look-ups order them (decisions T19, T20).
#[test]
fn guids_sort_by_their_digits() {
    let low = ResourceGuid::parse("7fffffff-ffff-ffff-ffff-ffffffffffff").unwrap();
    let high = ResourceGuid::parse("80000000-0000-0000-0000-000000000000").unwrap();
    assert!(low < high);
}

proptest! {
    /// Decision R7.
    #[test]
    fn every_guid_comes_back_from_each_of_its_forms(
        number: u128,
        blanks in "[ \t]{0,3}",
        form in 0..4_usize,
        hyphens: bool,
        upper: bool,
    ) {
        let uuid = Uuid::from_u128(number);
        let mut text = if hyphens { uuid.as_hyphenated().to_string() } else { uuid.as_simple().to_string() };
        if upper {
            text.make_ascii_uppercase();
        }
        let (before, after) = [("", ""), ("{", "}"), ("(", ")"), ("urn:uuid:", "")][form];
        let written = format!("{blanks}{before}{text}{after}{blanks}");
        prop_assert_eq!(parse_guid(&written), Some(uuid));
        prop_assert_eq!(ResourceGuid::from(uuid).to_string(), uuid.as_hyphenated().to_string());
    }

    /// What is read is written in a form that is read again, and nothing panics.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*|[-{}() 0-9a-fA-Furnid:]{30,50}") {
        if let Some(guid) = JobGuid::parse(&text) {
            prop_assert_eq!(JobGuid::parse(&guid.to_string()), Some(guid));
        }
    }
}
