//! Which part has which role (decision C1), also against the decision read literally.

use super::{assign, may_be_required};
use crate::body::PartHead;
use crate::crash_report::PartRole;
use proptest::prelude::*;

fn head(name: Option<&str>, content_type: Option<&str>) -> PartHead {
    PartHead { name: name.map(str::to_owned), file_name: None, content_type: content_type.map(str::to_owned) }
}

fn roles(heads: &[(&str, &str)]) -> Vec<PartRole> {
    let heads: Vec<PartHead> = heads.iter().map(|(name, kind)| head(Some(name), Some(kind))).collect();
    assign(&heads.iter())
}

#[test]
fn names_and_content_types_that_agree_go_first() {
    let sent = [("dump", "text/plain"), ("dump", "application/octet-stream"), ("CallStack", "text/plain")];
    assert_eq!(roles(&sent), [PartRole::Attachment, PartRole::Dump, PartRole::CallStack]);
}

#[test]
fn a_name_goes_before_a_content_type() {
    // Many HTTP libraries send one content type whatever the content.
    let sent = [("log", "text/plain"), ("CALLSTACK", "application/octet-stream"), ("xml", "text/plain")];
    assert_eq!(roles(&sent), [PartRole::Attachment, PartRole::CallStack, PartRole::Xml]);
    let all_text = [("callstack", "text/plain"), ("Xml", "text/plain"), ("Dump", "text/plain")];
    assert_eq!(roles(&all_text), [PartRole::CallStack, PartRole::Xml, PartRole::Dump]);
}

#[test]
fn a_content_type_is_enough_where_no_name_fits() {
    let sent = [("a", "application/octet-stream"), ("b", "text/xml"), ("c", "text/plain"), ("d", "text/plain")];
    assert_eq!(roles(&sent), [PartRole::Dump, PartRole::Xml, PartRole::CallStack, PartRole::Attachment]);
    let nameless = [head(None, Some("text/plain")), head(None, None)];
    assert_eq!(assign(&nameless.iter()), [PartRole::CallStack, PartRole::Attachment]);
}

#[test]
fn the_first_in_the_body_wins() {
    let sent =
        [("CallStack", "text/plain"), ("CallStack", "text/plain"), ("Xml", "text/xml"), ("Xml", "application/xml")];
    assert_eq!(roles(&sent), [PartRole::CallStack, PartRole::Attachment, PartRole::Xml, PartRole::Attachment]);
    assert_eq!(roles(&[]), []);
}

#[test]
fn a_part_has_the_role_of_its_name_though_its_content_type_is_of_another() {
    // The second round comes before the third: the dump is no call stack for being sent as text.
    assert_eq!(roles(&[("dump", "text/plain"), ("a", "text/plain")]), [PartRole::Dump, PartRole::CallStack]);
    assert_eq!(roles(&[("dump", "text/plain")]), [PartRole::Dump]);
}

fn heads() -> impl Strategy<Value = Vec<PartHead>> {
    let names = vec![None, Some("CallStack"), Some("callstack"), Some("XML"), Some("dump"), Some("DUMP"), Some("log")];
    let kinds = vec![
        None,
        Some("text/plain"),
        Some("application/xml"),
        Some("text/xml"),
        Some("application/octet-stream"),
        Some("image/png"),
    ];
    let head = (prop::sample::select(names), prop::sample::select(kinds)).prop_map(|(name, kind)| head(name, kind));
    prop::collection::vec(head, 0..8)
}

/// Decision C1, read literally: three rounds over all parts, the first in the body wins.
fn naive(heads: &[PartHead]) -> Vec<PartRole> {
    fn of_name(head: &PartHead) -> Option<PartRole> {
        match head.name.as_deref()?.to_ascii_lowercase().as_str() {
            "callstack" => Some(PartRole::CallStack),
            "xml" => Some(PartRole::Xml),
            "dump" => Some(PartRole::Dump),
            _ => None,
        }
    }
    fn of_kind(head: &PartHead) -> Option<PartRole> {
        match head.content_type.as_deref()? {
            "text/plain" => Some(PartRole::CallStack),
            "application/xml" | "text/xml" => Some(PartRole::Xml),
            "application/octet-stream" => Some(PartRole::Dump),
            _ => None,
        }
    }
    let rounds: [fn(&PartHead) -> Option<PartRole>; 3] =
        [|head| of_name(head).filter(|role| of_kind(head) == Some(*role)), of_name, of_kind];
    let mut roles = vec![PartRole::Attachment; heads.len()];
    for wants in rounds {
        for (part, head) in heads.iter().enumerate() {
            if let Some(role) = wants(head)
                && roles[part] == PartRole::Attachment
                && !roles.contains(&role)
            {
                roles[part] = role;
            }
        }
    }
    roles
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_parts_have_the_roles_that_the_decision_gives_them(heads in heads()) {
        prop_assert_eq!(assign(&heads.iter()), naive(&heads));
    }

    /// Decision C6: a part that turns out to be the call stack was never thought of as droppable.
    #[test]
    fn only_what_may_be_required_has_a_role_that_is(heads in heads()) {
        for (head, role) in heads.iter().zip(assign(&heads.iter())) {
            prop_assert!(may_be_required(head) || matches!(role, PartRole::Dump | PartRole::Attachment));
        }
    }
}
