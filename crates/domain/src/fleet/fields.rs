//! How the values of a fleet file are read. `null` counts as not given.

use super::keys::{MIN_KEY_LENGTH, Secret};
use crate::access::reads_as_itself;
use crate::text::{is_blank, storable};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// Most characters of a name. In UTF-8 they stay below the longest key of an index that any of our
/// databases takes, some 2,700 bytes.
const MAX_NAME_LENGTH: usize = 500;

pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let items: Option<Vec<Object<T>>> = Option::deserialize(deserializer)?;
    Ok(items.unwrap_or_default().into_iter().map(|item| item.0).collect())
}

/// A struct that is read from an object only: serde would take an array of its fields as well.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asked for a map, serde_json would quote a text that stands in its place.
        deserializer.deserialize_any(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    /// The text is not quoted: it may be a credential.
    fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
        Err(E::invalid_type(Unexpected::Other("a text"), &self))
    }
}

/// The name of something, or of something that it refers to.
pub(super) fn optional_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = text(deserializer)?;
    name.map(|name| parse_name(&name).map_err(Error::custom)).transpose()
}

/// A name as it is stored.
///
/// # Errors
/// What is wrong with it.
pub fn parse_name(text: &str) -> Result<String, String> {
    if is_blank(text) {
        return Err("must not be blank".to_owned());
    }
    if text.chars().count() > MAX_NAME_LENGTH {
        return Err(format!("must have at most {MAX_NAME_LENGTH} characters"));
    }
    Ok(storable(text))
}

pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    optional_name(deserializer)?.ok_or_else(|| Error::custom("is required"))
}

/// A text that a client can send as a header: what no request can carry would never match.
pub(super) fn header_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = text(deserializer)?;
    match &text {
        Some(text) if text.trim() != text => Err(Error::custom("must not begin or end with white space")),
        Some(text) if text.chars().any(char::is_control) => Err(Error::custom("must not hold control characters")),
        Some(text) if !reads_as_itself(text) => {
            Err(Error::custom("must not be one value repeated between commas, or end with a comma"))
        }
        _ => Ok(text),
    }
}

pub(super) fn credential<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    Ok(header_text(deserializer)?.map(Secret::new))
}

pub(super) fn mis_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let key = credential(deserializer)?;
    if key.as_ref().is_some_and(|key| key.reveal().chars().count() < MIN_KEY_LENGTH) {
        return Err(Error::custom(format!("must have at least {MIN_KEY_LENGTH} characters")));
    }
    Ok(key)
}

/// A text that isn't blank. An error never quotes the value: it may be a credential.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if !is_blank(&text) => Ok(Some(storable(&text))),
        _ => Err(Error::custom("must be a text that is not blank")),
    }
}
