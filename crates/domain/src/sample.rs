//! What the unit tests of the use cases share: JSON from text, arbitrary JSON, bodies without end, and
//! a look at refusals.

use crate::body::{BodyError, PartHead, PartSource};
use crate::error::{Failure, Outcome, Reason};
use crate::json::Json;
use crate::testing::{InMemoryPart, InMemoryParts};
use async_trait::async_trait;
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;

/// Reads JSON text as the adapter does: numbers keep their spelling, members their order.
pub(crate) fn parse(text: &[u8]) -> Result<Json, String> {
    serde_json::from_slice(text).map(adopt).map_err(|error| error.to_string())
}

/// The JSON value of `text`.
pub(crate) fn json(text: &str) -> Json {
    parse(text.as_bytes()).expect("JSON")
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

/// An object of these members.
pub(crate) fn object(members: &[(&str, Json)]) -> Json {
    Json::Object(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

/// A JSON text.
pub(crate) fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

/// Why it was refused.
pub(crate) fn reason<T>(outcome: Outcome<T>) -> Reason {
    match outcome {
        Ok(_) => panic!("nothing was refused"),
        Err(Failure::Refused(refusal)) => refusal.reason,
        Err(Failure::Store(error)) => panic!("a store failed: {error:?}"),
    }
}

/// The particulars of a refusal (decision R11).
pub(crate) fn detail<T>(outcome: Outcome<T>) -> String {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal.detail.to_string(),
        _ => panic!("nothing was refused"),
    }
}

/// Whether a store failed, which is no refusal (decision R4).
pub(crate) fn is_store_failure<T>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Err(Failure::Store(_)))
}

/// Any JSON value, with the names of `members` among those of its objects.
pub(crate) fn any_json(members: &'static [&'static str]) -> impl Strategy<Value = Json> {
    let name = prop_oneof![
        4 => prop::sample::select(members).prop_map(str::to_owned),
        1 => prop::sample::select(members).prop_map(str::to_ascii_uppercase),
        1 => any::<String>(),
    ];
    any_leaf().prop_recursive(3, 24, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((name.clone(), inner), 0..8).prop_map(Json::Object),
        ]
    })
}

/// Any JSON value that holds no other, the words and forms that the interface knows among them.
pub(crate) fn any_leaf() -> impl Strategy<Value = Json> {
    let words = vec!["", " ", "\0", "*", "0", "12.5", "1e999", "NaN", "Private", "Idle", "log", "NormalProfile"];
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?".prop_map(Json::Number),
        any::<String>().prop_map(Json::Text),
        prop::sample::select(words).prop_map(text),
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".prop_map(Json::Text),
        "2026-0[1-9]-1[0-9]T0[0-9]:[0-9]{2}:00Z".prop_map(Json::Text),
    ]
}

/// A content of so many bytes.
pub(crate) fn of_size(size: usize) -> Bytes {
    Bytes::from(vec![b'x'; size])
}

/// A body that begins with these parts and never ends.
pub(crate) struct Endless {
    begin: InMemoryParts,
    /// Whether its last part has content without end; else there are parts without end.
    in_one_part: bool,
    begun: bool,
}

impl Endless {
    pub(crate) fn after(begin: Vec<InMemoryPart>, in_one_part: bool) -> Self {
        Self { begin: InMemoryParts::new(begin), in_one_part, begun: false }
    }
}

#[async_trait]
impl PartSource for Endless {
    async fn next_part(&mut self) -> Result<Option<PartHead>, BodyError> {
        if let Some(head) = self.begin.next_part().await? {
            return Ok(Some(head));
        }
        self.begun = true;
        Ok(Some(PartHead { name: Some("more".to_owned()), ..PartHead::default() }))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        match self.begin.chunk().await? {
            Some(bytes) => Ok(Some(bytes)),
            None => Ok((self.begun && self.in_one_part).then(|| of_size(64 * 1024))),
        }
    }
}
