//! JSON text to the domain's [`Json`] (decision R5). Numbers keep their spelling and members their order.

use domain::json::Json;
use serde_json::Value;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads JSON text; a byte-order mark before it is skipped. The error says where the text is wrong.
pub fn parse(bytes: &[u8]) -> Result<Json, String> {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    serde_json::from_slice(text).map(adopt).map_err(|error| error.to_string())
}

fn adopt(value: Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(value),
        Value::Number(number) => Json::Number(number.to_string()),
        Value::String(text) => Json::Text(text),
        Value::Array(items) => Json::Array(items.into_iter().map(adopt).collect()),
        Value::Object(members) => Json::Object(members.into_iter().map(|(name, value)| (name, adopt(value))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?".prop_map(Json::Number),
            any::<String>().prop_map(Json::Text),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                // A name may be there once: of doubles the last one counts.
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back_as_it_was(json in any_json()) {
            prop_assert_eq!(parse(json.to_string().as_bytes()), Ok(json));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        // Decision R5.
        assert_eq!(parse(b"\xEF\xBB\xBF{}"), Ok(Json::Object(Vec::new())));
    }

    #[test]
    fn numbers_keep_their_spelling_and_members_their_order() {
        // Decision T8: further members of Meta are answered as sent.
        let text = r#"{"b":1.50,"a":12345678901234567890123}"#;
        assert_eq!(parse(text.as_bytes()).map(|json| json.to_string()), Ok(text.to_owned()));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let too_deep = "[".repeat(10_000);
        let refused: [&[u8]; 8] =
            [b"", b"{", b"{} x", b"{\"a\":1,}", b"\"\xff\"", b"NaN", b"\"\\ud800\"", too_deep.as_bytes()];
        for text in refused {
            assert!(parse(text).is_err(), "{:?}", String::from_utf8_lossy(&text[..text.len().min(20)]));
        }
    }
}
