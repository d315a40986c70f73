//! Decisions R5 and T2.

use super::*;
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

/// Decision R5: some clients wrap every body.
#[test]
fn a_one_element_array_around_a_body_is_unwrapped() {
    let body = object(&[("a", Json::Null)]);
    assert_eq!(Json::Array(vec![body.clone()]).unwrapped(), &body);
    assert_eq!(body.unwrapped(), &body);
    for whole in [Json::Array(vec![]), Json::Array(vec![body.clone(), body])] {
        assert_eq!(whole.unwrapped(), &whole);
    }
    // Only one array is taken off.
    let twice = Json::Array(vec![Json::Array(vec![text("a")])]);
    assert_eq!(twice.unwrapped(), &Json::Array(vec![text("a")]));
}

/// Decision R5.
#[test]
fn the_exact_name_goes_before_the_name_without_case() {
    let body = object(&[("NAME", text("upper")), ("Name", text("exact")), ("name", text("lower"))]);
    assert_eq!(body.text_member("Name"), Some("exact"));
    assert_eq!(body.text_member("name"), Some("lower"));
    assert_eq!(body.text_member("nAmE"), Some("lower"));
    assert_eq!(body.text_member("Names"), None);
    // Member names are words of the interface: only ASCII counts (decision R14).
    assert_eq!(object(&[("\u{212A}ey", text("k"))]).text_member("Key"), None);
}

/// Decision R5.
#[test]
fn null_counts_as_absent() {
    let body = object(&[("Name", Json::Null)]);
    assert_eq!(body.member("Name"), None);
    assert_eq!(body.member("name"), None);
    for other in [Json::Null, Json::Bool(true), text("Name"), Json::Array(vec![text("Name")])] {
        assert_eq!(other.member("Name"), None);
    }
}

/// Decision R5.
#[test]
fn numbers_count_as_text_and_numeric_texts_as_numbers() {
    assert_eq!(number("1.50").as_text(), Some("1.50"));
    assert_eq!(text("12.5").as_number(), Some(12.5));
    assert_eq!(text(" 12.5 ").as_number(), Some(12.5));
    assert_eq!(number("-1e3").as_number(), Some(-1000.0));
    for no_number in [text(""), text("x"), text("1,5"), text("inf"), text("NaN"), number("1e400"), Json::Bool(true)] {
        assert_eq!(no_number.as_number(), None, "{no_number}");
    }
    for no_text in [Json::Null, Json::Bool(true), Json::Array(vec![]), object(&[])] {
        assert_eq!(no_text.as_text(), None, "{no_text}");
    }
}

/// Decision T8: numbers keep their spelling, members their order.
#[test]
fn a_value_is_written_as_it_was_sent() {
    let value = object(&[
        ("z", number("1.50")),
        ("a", Json::Array(vec![Json::Null, Json::Bool(true), Json::Bool(false), object(&[])])),
        ("q\"", text("\u{1}\n\r\t\\\"/ä🖨\u{7f}\u{2028}")),
        ("z", number("100000000000000000000000000000.10")),
    ]);
    let written = "{\"z\":1.50,\"a\":[null,true,false,{}],\
                   \"q\\\"\":\"\\u0001\\n\\r\\t\\\\\\\"/ä🖨\u{7f}\u{2028}\",\
                   \"z\":100000000000000000000000000000.10}";
    assert_eq!(value.to_string(), written);
}

/// Decision T2: the order of members doesn't count, that of items does.
#[test]
fn one_value_has_one_canonical_text() {
    let one = object(&[("a", object(&[("x", number("1")), ("y", text("2"))])), ("b", Json::Null)]);
    let other = object(&[("b", Json::Null), ("a", object(&[("y", text("2")), ("x", number("1.0"))]))]);
    assert_eq!(one.canonical(), other.canonical());
    let values = [
        one,
        object(&[("a", Json::Null)]),
        object(&[]),
        Json::Array(vec![]),
        Json::Null,
        Json::Array(vec![number("1"), number("2")]),
        Json::Array(vec![number("2"), number("1")]),
        Json::Array(vec![number("12")]),
        number("1"),
        text("1"),
        text("1e0"),
        Json::Bool(true),
        text("true"),
        object(&[("a\":1,\"b", number("1"))]),
        object(&[("a", number("1")), ("b", number("1"))]),
    ];
    for (place, one) in values.iter().enumerate() {
        for other in &values[..place] {
            assert_ne!(one.canonical(), other.canonical());
        }
    }
}

/// Decision T2: numbers are compared by value, exactly.
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
        let canonical = number(spellings[0]).canonical();
        assert!(spellings.iter().all(|spelling| number(spelling).canonical() == canonical), "{spellings:?}");
        for other in &equal[..place] {
            assert_ne!(number(other[0]).canonical(), canonical, "{other:?} {spellings:?}");
        }
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,10})?([eE][-+]?[0-9]{1,2})?".prop_map(Json::Number),
        any::<String>().prop_map(Json::Text),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// The same value with the members of every object in reverse order.
fn reversed(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(reversed).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect())
        }
        other => other.clone(),
    }
}

proptest! {
    /// What is written is JSON, and means what was meant; an independent parser is the judge.
    #[test]
    fn what_is_written_is_read_as_the_same_value(value in any_json()) {
        let written = value.to_string();
        let read: serde_json::Value = serde_json::from_str(&written).expect("valid JSON");
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&read.to_string()).expect("valid JSON"), read.clone());
        prop_assert!(same(&value, &read), "{} {}", written, read);
    }

    /// Decision T2.
    #[test]
    fn the_order_of_members_does_not_count(value in any_json()) {
        prop_assert_eq!(reversed(&value).canonical(), value.canonical());
    }

    #[test]
    fn any_text_is_quoted_as_json(text: String) {
        let read: String = serde_json::from_str(&Quoted(&text).to_string()).expect("valid JSON");
        prop_assert_eq!(read, text);
    }

    /// No spelling of a number breaks the comparison.
    #[test]
    fn any_spelling_of_a_number_is_compared(spelling in "[-+0-9.eE]{0,60}|-?[0-9]{1,50}([eE][-+]?[0-9]{1,60})?") {
        prop_assert!(!number(&spelling).canonical().is_empty() || spelling.is_empty());
    }
}

fn same(value: &Json, read: &serde_json::Value) -> bool {
    match (value, read) {
        (Json::Null, serde_json::Value::Null) => true,
        (Json::Bool(one), serde_json::Value::Bool(other)) => one == other,
        (Json::Number(one), serde_json::Value::Number(other)) => {
            number(one).canonical() == number(&other.to_string()).canonical()
        }
        (Json::Text(one), serde_json::Value::String(other)) => one == other,
        (Json::Array(one), serde_json::Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), serde_json::Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|found| same(value, found)))
        }
        _ => false,
    }
}
