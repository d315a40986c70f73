//! A lenient reader of JSON bodies (decisions R5, R9) over serde_json.
//!
//! A body is an ordinary struct with `#[derive(Deserialize)]` and fields of type [`Lenient`].

#[cfg(test)]
mod tests;

use domain::error::Failure;
use indexmap::IndexMap;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;
use serde_json::{Error, from_str};
use std::borrow::Cow;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Most arrays and objects within each other. serde_json has no limit of its own for the values it skips.
const MAX_DEPTH: usize = 128;

/// Reads a whole body. A body that isn't an object counts as an empty one.
///
/// # Errors
/// Why the body is not valid JSON, with line and column.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    match parse_object(body)? {
        Some(object) => Ok(object),
        None => T::deserialize(Members::default()).map_err(|error| error.to_string()),
    }
}

/// Reads a whole body that is an object, or an array of one object (decision R5); `None` for other JSON values.
///
/// # Errors
/// Why the body is not valid JSON, with line and column.
pub(crate) fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<Option<T>, String> {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let text = std::str::from_utf8(body)
        .map_err(|error| format!("the text is not UTF-8 from byte {} on", error.valid_up_to()))?;
    let text = mend_escapes(text);
    let json: &RawValue = from_str(&text).map_err(|error| error.to_string())?;
    if is_too_deep(&text) {
        return Err(format!("more than {MAX_DEPTH} arrays and objects are nested"));
    }
    let wrapped: Option<Vec<&RawValue>> = from_str(json.get()).ok();
    let json = match wrapped.as_deref() {
        Some([only]) => *only,
        _ => json,
    };
    Ok(read_object(json))
}

/// Reads an object, its members as [`Members`] finds them; `None` for a value of another type.
pub(crate) fn read_object<T: DeserializeOwned>(json: &RawValue) -> Option<T> {
    let members = from_str(json.get()).ok()?;
    T::deserialize(Members(members)).ok()
}

/// The members of an object. Of several with one name the last counts.
///
/// As a [`Deserializer`] it gives a struct each of its fields under the field's exact name, else under the name without
/// ASCII case; `null` counts as absent (decision R5).
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Members<'a>(#[serde(borrow)] pub(crate) IndexMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    /// The index of a member that isn't `null`, and its value.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &'a RawValue)> {
        let given = || self.0.iter().enumerate().rev().filter(|(_, (_, value))| value.get() != "null");
        let exact = given().find(|(_, (key, _))| *key == name);
        let found = exact.or_else(|| given().find(|(_, (key, _))| key.eq_ignore_ascii_case(name)));
        found.map(|(index, (_, value))| (index, *value))
    }
}

impl<'de> Deserializer<'de> for Members<'de> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let members = fields.iter().filter_map(|field| Some((*field, self.find(field)?.1)));
        visitor.visit_map(MapDeserializer::new(members))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("only structs are read from members"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The value of a member: a `T`, or the JSON text of a value of another type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Lenient<T> {
    /// Not sent, or `null`.
    #[default]
    Absent,
    Value(T),
    /// A value of another type, as JSON text.
    Other(String),
}

impl<T> Lenient<T> {
    /// The value; one of another type counts as absent (ADR 19).
    pub(crate) fn or_absent(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Other(_) => None,
        }
    }

    /// The value; one of another type is refused.
    pub(crate) fn or_refuse(self, refuse: impl FnOnce(&str) -> Failure) -> Result<Option<T>, Failure> {
        match self {
            Self::Absent => Ok(None),
            Self::Value(value) => Ok(Some(value)),
            Self::Other(json) => Err(refuse(&json)),
        }
    }
}

impl<T: Into<String>> Lenient<T> {
    /// The text, or the JSON text of a value of another type. Such a text is never a valid word or GUID, so the check
    /// of the value refuses it.
    pub(crate) fn or_json(self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Value(text) => Some(text.into()),
            Self::Other(json) => Some(json),
        }
    }
}

impl<'de, T: FromJson> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // `Option` makes a field that isn't sent absent, too.
        let Some(json) = Option::<&RawValue>::deserialize(deserializer)? else {
            return Ok(Self::Absent);
        };
        Ok(T::from_json(json).map_or_else(|| Self::Other(json.get().to_owned()), Self::Value))
    }
}

/// What the value of a [`Lenient`] member can be.
pub(crate) trait FromJson: Sized {
    /// `None` for a value of another type.
    fn from_json(json: &RawValue) -> Option<Self>;
}

/// A text, or a number as it was spelled (decision R5).
impl FromJson for String {
    fn from_json(json: &RawValue) -> Option<Self> {
        match json.get().as_bytes() {
            [b'"', ..] => from_str(json.get()).ok(),
            [b'-' | b'0'..=b'9', ..] => Some(json.get().to_owned()),
            _ => None,
        }
    }
}

/// A finite number, or a text that spells one (decision R5).
impl FromJson for f64 {
    fn from_json(json: &RawValue) -> Option<Self> {
        let number: f64 = String::from_json(json)?.trim().parse().ok()?;
        number.is_finite().then_some(number)
    }
}

/// A text that may not be sent as a number (decision R5: ResourceType and Domain).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextOnly(String);

impl FromJson for TextOnly {
    fn from_json(json: &RawValue) -> Option<Self> {
        from_str(json.get()).ok().map(Self)
    }
}

impl From<TextOnly> for String {
    fn from(text: TextOnly) -> Self {
        text.0
    }
}

impl<T: FromJson> FromJson for Vec<Lenient<T>> {
    fn from_json(json: &RawValue) -> Option<Self> {
        from_str(json.get()).ok()
    }
}

/// Replaces the escapes of half a surrogate pair and of U+0000, which can't be stored, by `\ufffd` (decision R9).
fn mend_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        mended.push_str(before);
        let (kept, length) = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (&escape[..12], 12),
            (Some(0 | 0xD800..0xE000), _) => ("\\ufffd", 6),
            // The backslash and what it escapes; a text that ends here is no JSON.
            _ => {
                let length = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                (&escape[..length], length)
            }
        };
        mended.push_str(kept);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

/// The code unit of an escape `\uXXXX` at the beginning of `text`.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether valid JSON has more than [`MAX_DEPTH`] arrays and objects within each other.
fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut in_text) = (0_usize, false);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            // An escape, which only texts have.
            b'\\' => drop(bytes.next()),
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}
