//! Decision T2.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The order of members doesn't count, that of items does.
#[test]
fn one_value_has_one_canonical_text() {
    let one = canonical(r#"{"a":{"x":1,"y":"2\u00e4"},"b":null}"#);
    assert_eq!(one, canonical(" { \"b\" : null,\n \"a\":{\"y\":\"2ä\", \"x\" : 1.0 } } "));
    assert_eq!(canonical(r#"{"a":1,"a":2}"#), canonical(r#"{"a":2}"#), "the last of members of one name counts");
    let values = [
        r#"{"a":{"x":1,"y":"2ä"},"b":null}"#,
        r#"{"a":null}"#,
        "{}",
        "[]",
        "null",
        "[1,2]",
        "[2,1]",
        "[12]",
        "1",
        r#""1""#,
        r#""1e0""#,
        "true",
        r#""true""#,
        r#"{"a\":1,\"b":1}"#,
        r#"{"a":1,"b":1}"#,
    ];
    for (place, one) in values.iter().enumerate() {
        for other in &values[..place] {
            assert_ne!(canonical(one), canonical(other));
        }
    }
}

/// Numbers are compared by value, exactly.
#[test]
fn numbers_are_equal_by_value() {
    let equal: &[&[&str]] = &[
        &["0", "-0", "0.0", "-0.0", "0e5", "0.000E-7"],
        &["1", "1.0", "10e-1", "0.1e1", "1E0", "1e+0", "100e-2"],
        &["-1.5", "-15e-1", "-0.15e1", "-1.50"],
        &["100000000000000000000", "1e20", "1.0E+20"],
        &["1e400", "10e399", "0.1e401"],
        &["1e-400", "0.1e-399"],
        &["123456789012345678901234567890123456789012345678901"],
        &["123456789012345678901234567890123456789012345678902"],
        &["0.1"],
        &["0.10000000000000000001"],
        &["1e99999999999999999999999999999999999999999999"],
        &["15"],
        &["1.5e0"],
    ];
    for (place, spellings) in equal.iter().enumerate() {
        let first = canonical(spellings[0]);
        assert!(spellings.iter().all(|spelling| canonical(spelling) == first), "{spellings:?}");
        for other in &equal[..place] {
            assert_ne!(canonical(other[0]), first, "{other:?} {spellings:?}");
        }
    }
}

#[test]
fn what_is_nested_without_end_is_compared_by_its_text() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(canonical(&nested(100_000)).len(), 200_000);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

/// The same value with the members of every object in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect::<Value>()
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_members_and_blanks_do_not_count(value in any_json()) {
        let pretty = serde_json::to_string_pretty(&reversed(&value)).unwrap();
        prop_assert_eq!(canonical(&pretty), canonical(&value.to_string()));
    }

    #[test]
    fn the_canonical_text_is_the_same_value(value in any_json()) {
        let text = canonical(&value.to_string());
        prop_assert_eq!(canonical(&text), text);
    }

    #[test]
    fn different_values_have_different_texts(one in any_json(), other in any_json()) {
        prop_assert_eq!(one == other, canonical(&one.to_string()) == canonical(&other.to_string()));
    }

    #[test]
    fn any_text_is_written_as_json(text: String) {
        let read: String = serde_json::from_str(&to_json(&text)).unwrap();
        prop_assert_eq!(read, text.clone());
        prop_assert_eq!(to_json(&text), json!(text).to_string());
    }

    /// No spelling of a number breaks the comparison.
    #[test]
    fn any_spelling_of_a_number_is_compared(spelling in "[-+0-9.eE]{0,60}|-?[0-9]{1,50}([eE][-+]?[0-9]{1,60})?") {
        prop_assert!(!canonical(&spelling).is_empty() || spelling.is_empty());
    }
}
