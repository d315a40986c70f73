//! Decisions R5 and R9.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Body {
    name: Lenient<String>,
    level: Lenient<f64>,
    items: Lenient<Vec<Lenient<TextOnly>>>,
    nested: Lenient<Box<Nested>>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Nested {
    name: Lenient<String>,
}

impl FromJson for Box<Nested> {
    fn from_json(json: &RawValue) -> Option<Self> {
        read_object(json).map(Box::new)
    }
}

fn read(json: &str) -> Body {
    parse(json.as_bytes()).unwrap()
}

fn name(json: &str) -> Option<String> {
    read(json).name.or_absent()
}

/// The text of a member, escapes as they are in `json`.
fn text(json: &str) -> String {
    name(&format!(r#"{{"Name":"{json}"}}"#)).unwrap()
}

#[test]
fn a_byte_order_mark_is_skipped() {
    // Decision R5.
    assert_eq!(parse::<Body>(b"\xEF\xBB\xBF {}\r\n"), Ok(Body::default()));
}

#[test]
fn a_one_element_array_around_a_body_is_unwrapped() {
    // Decision R5: some clients wrap every body.
    assert_eq!(name(r#"[{"Name":"a"}]"#).as_deref(), Some("a"));
    // Only one array is taken off, and what is no object has no members.
    for other in [r#"[[{"Name":"a"}]]"#, r#"[{"Name":"a"},{}]"#, "[]", "5", "null", "\"Name\"", "true", "[5]"] {
        assert_eq!(read(other), Body::default(), "{other}");
        assert_eq!(parse_object::<Body>(other.as_bytes()), Ok(None), "{other}");
    }
    assert_eq!(parse_object(b"[{}]"), Ok(Some(Body::default())));
}

#[test]
fn the_exact_name_goes_before_the_name_without_case() {
    // Decision R5.
    assert_eq!(name(r#"{"NAME":"upper","Name":"exact","name":"lower"}"#).as_deref(), Some("exact"));
    assert_eq!(name(r#"{"NAME":"upper","nAmE":"other"}"#).as_deref(), Some("other"));
    assert_eq!(name(r#"{"Name":null,"name":"lower"}"#).as_deref(), Some("lower"));
    assert_eq!(name(r#"{"Names":"a"}"#), None);
    // Member names are words of the interface: only ASCII counts (decision R14).
    assert_eq!(read("{\"\u{212A}ame\":\"a\",\"\u{017F}\":1}"), Body::default());
    let nested = read(r#"{"NESTED":{"name":"a"}}"#).nested.or_absent().unwrap();
    assert_eq!(nested.name, Lenient::Value("a".to_owned()));
}

#[test]
fn null_counts_as_absent() {
    // Decision R5.
    assert_eq!(read(r#"{"Name":null,"Level": null ,"Items":null,"Nested":null,"Other":null}"#), Body::default());
    assert_eq!(read(r#"{"Items":[null]}"#).items, Lenient::Value(vec![Lenient::Absent]));
}

#[test]
fn of_members_of_one_name_the_last_counts() {
    assert_eq!(name(r#"{"Name":"a","Name":"b"}"#).as_deref(), Some("b"));
    assert_eq!(name(r#"{"Name":"a","Name":null}"#), None);
}

#[test]
fn numbers_count_as_texts_in_their_spelling() {
    // Decision R5.
    for spelling in ["1.50", "-0", "1E5", "12345678901234567890123", "7.10"] {
        assert_eq!(name(&format!(r#"{{"Name":{spelling}}}"#)).as_deref(), Some(spelling));
    }
    let items = read(r#"{"Items":["a",5]}"#).items.or_absent().unwrap();
    assert_eq!(items, [Lenient::Value(TextOnly("a".to_owned())), Lenient::Other("5".to_owned())]);
}

#[test]
fn numeric_texts_count_as_numbers() {
    // Decision R5.
    let level = |json: &str| read(&format!(r#"{{"Level":{json}}}"#)).level;
    for (sent, number) in [("12.5", 12.5), ("\"12.5\"", 12.5), ("\" 7 \"", 7.0), ("-1e3", -1000.0), ("0", 0.0)] {
        assert_eq!(level(sent), Lenient::Value(number), "{sent}");
    }
    for other in ["\"\"", "\"x\"", "\"1,5\"", "\"inf\"", "\"NaN\"", "1e400", "\"1e999\"", "true", "[1]", "{}"] {
        assert_eq!(level(other), Lenient::Other(other.to_owned()), "{other}");
    }
}

#[test]
fn a_value_of_another_type_is_absent_refused_or_kept_as_json() {
    for other in ["true", "false", "[]", "[\"a\"]", "{\"a\":1}"] {
        let read = || read(&format!(r#"{{"Name":{other}}}"#)).name;
        assert_eq!(read(), Lenient::Other(other.to_owned()));
        assert_eq!(read().or_absent(), None, "ADR 19");
        assert_eq!(read().or_json().as_deref(), Some(other));
        assert!(read().or_refuse(|json| domain::error::Reason::JsonInvalid.because(json)).is_err());
    }
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    // Decision R9: clients cut texts inside an emoji.
    assert_eq!(text(r"cut \ud83d"), "cut \u{FFFD}");
    assert_eq!(text(r"\ud83d!\uDE00"), "\u{FFFD}!\u{FFFD}");
    assert_eq!(text(r"\ud83d\ud83d\ude00"), "\u{FFFD}😀");
    assert_eq!(text(r"\ude00\ud83d"), "\u{FFFD}\u{FFFD}");
    assert_eq!(text(r"\uD83D\uDE00é\u00e9"), "😀éé");
    // An escaped backslash before a u is no escape of a character.
    assert_eq!(text(r"\\ud83d"), r"\ud83d");
    assert_eq!(text(r"\\\ud83d\n"), "\\\u{FFFD}\n");
    // In the name of a member as well.
    assert!(parse::<Body>(br#"{"\ud83d":1}"#).is_ok());
}

#[test]
fn an_escaped_zero_becomes_a_replacement_character() {
    // Decision R9.
    assert_eq!(text(r"a\u0000b\\u0000"), "a\u{FFFD}b\\u0000");
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let refused: [&[u8]; 16] = [
        b"",
        b"{",
        b"{} x",
        b"{\"a\":1,}",
        b"\"\xff\"",
        b"NaN",
        b"\"\\ud8\"",
        b"\"\\ud800",
        b"01",
        b"1.",
        b"\"\n\"",
        b"'a'",
        b"[1 2]",
        b"{\"Name\":\"\\x\"}",
        b"{\"Name\":\"\\u00g0\"}",
        b"\\u0000",
    ];
    for text in refused {
        assert!(parse::<Body>(text).is_err(), "{:?}", String::from_utf8_lossy(text));
    }
    assert!(parse::<Body>(b"{\n\"a\": 'b'}").unwrap_err().ends_with("at line 2 column 6"));
    assert_eq!(parse::<Body>(b"\"\xff\"").unwrap_err(), "the text is not UTF-8 from byte 1 on");
}

#[test]
fn levels_are_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse::<Body>(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert!(parse::<Body>(nested(MAX_DEPTH + 1).as_bytes()).is_err());
    assert!(parse::<Body>(nested(1_000_000).as_bytes()).is_err());
    let in_text = format!(r#"{{"Name":"\"{}"}}"#, "[".repeat(1000));
    assert_eq!(name(&in_text).map(|name| name.len()), Some(1001));
    let in_row = format!("[{}[]]", "[],".repeat(1000));
    assert!(parse::<Body>(in_row.as_bytes()).is_ok());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let name =
        prop_oneof![Just("Name".to_owned()), Just("LEVEL".to_owned()), Just("items".to_owned()), any::<String>()];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read(json in any_json()) {
        let text = json.to_string();
        prop_assert_eq!(parse_object::<Body>(text.as_bytes()).unwrap().is_some(), is_body(&json), "{}", text);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse::<Body>(&bytes);
    }

    /// But for half a surrogate pair.
    #[test]
    fn serde_json_reads_the_same_texts(text in "[\\[\\]{}:,\"\\\\8-9eE.+tfn\\- ]{0,12}") {
        let read = serde_json::from_str::<Value>(&text);
        prop_assert_eq!(parse::<Body>(text.as_bytes()).is_ok(), read.is_ok(), "{}", text);
    }

    #[test]
    fn any_text_is_read_from_its_escapes(sent in any::<String>()) {
        let escaped = escapes(sent.encode_utf16()).to_uppercase().replace('U', "u");
        prop_assert_eq!(text(&escaped), sent.replace('\0', "\u{FFFD}"));
        let plain = json!({ "Name": sent }).to_string();
        prop_assert_eq!(name(&plain), Some(sent.replace('\0', "\u{FFFD}")));
    }

    #[test]
    fn any_code_units_are_read_as_their_lossy_text(units in prop::collection::vec(prop_oneof![any::<u16>(), 0xD800_u16..0xE000], 0..20)) {
        prop_assert_eq!(text(&escapes(units.iter().copied())), String::from_utf16_lossy(&units).replace('\0', "\u{FFFD}"));
    }
}

/// The code units, each as an escape.
fn escapes(units: impl Iterator<Item = u16>) -> String {
    units.map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
}

fn is_body(json: &Value) -> bool {
    match json {
        Value::Object(_) => true,
        Value::Array(items) => matches!(&items[..], [Value::Object(_)]),
        _ => false,
    }
}
