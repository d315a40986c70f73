//! JSON as a value: what the rules read their members from (decision R5).
//!
//! Parsing bytes is the adapters' work; this is the tree they hand in, with numbers as they were
//! written, so that nothing of a client's metadata is changed by passing through.

#[cfg(test)]
mod tests;

use std::fmt;

/// A JSON value. Objects keep the order of their members; numbers keep their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    /// A number as it was written, for example `1.50`.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A one-element array around a whole body is the element (decision R5).
    #[must_use]
    pub fn unwrapped(&self) -> &Json {
        match self {
            Json::Array(items) if items.len() == 1 => &items[0],
            other => other,
        }
    }

    /// The member `name` of an object: under its exact name, else under its name without case;
    /// `null` counts as absent (decision R5). `None` for anything that isn't an object.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Json> {
        self.member_index(name).map(|(_, value)| value)
    }

    /// Like [`Json::member`], with the member's place in the object.
    #[must_use]
    pub fn member_index(&self, name: &str) -> Option<(usize, &Json)> {
        let Json::Object(members) = self else {
            return None;
        };
        let find =
            |fits: &dyn Fn(&str) -> bool| members.iter().rposition(|(key, value)| fits(key) && *value != Json::Null);
        let place = find(&|key| key == name).or_else(|| find(&|key| key.eq_ignore_ascii_case(name)))?;
        Some((place, &members[place].1))
    }

    /// The value as text: a text, or a number in its spelling (decision R5).
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) | Json::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a finite number: a number, or a text that spells one (decision R5).
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        let number: f64 = self.as_text()?.trim().parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// The text member `name`; numbers count as text, other types as absent (decision R5).
    #[must_use]
    pub fn text_member(&self, name: &str) -> Option<&str> {
        self.member(name)?.as_text()
    }

    /// The same for every two texts that are the same JSON value: members sorted, numbers by value.
    #[must_use]
    pub fn canonical(&self) -> String {
        match self {
            Json::Array(items) => {
                let items: Vec<String> = items.iter().map(Json::canonical).collect();
                format!("[{}]", items.join(","))
            }
            Json::Object(members) => {
                let mut members: Vec<&(String, Json)> = members.iter().collect();
                // The sort is stable: of members with one name the last one stays the last.
                members.sort_by_key(|(key, _)| key.as_str());
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{}:{}", Quoted(key), value.canonical())).collect();
                format!("{{{}}}", members.join(","))
            }
            Json::Number(spelling) => canonical_number(spelling),
            other => other.to_string(),
        }
    }
}

/// Spells equal numbers alike, exactly and whatever their magnitude: digits that begin and end with
/// none that is 0, and a power of ten.
fn canonical_number(spelling: &str) -> String {
    let (mantissa, exponent) = spelling.split_once(['e', 'E']).unwrap_or((spelling, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    let end = digits.len() - significant.len();
    let significant = significant.trim_start_matches('0');
    let places = || i128::try_from(end).ok()?.checked_sub(i128::try_from(fraction.len()).ok()?);
    match exponent.parse::<i128>().ok().zip(places()).and_then(|(power, places)| power.checked_add(places)) {
        _ if significant.is_empty() => "0".to_owned(),
        Some(power) => format!("{sign}{significant}e{power}"),
        // A power that long can't be reckoned with; such numbers are compared as they are spelled.
        None => spelling.to_owned(),
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Number(spelling) => out.write_str(spelling),
            Json::Text(text) => write!(out, "{}", Quoted(text)),
            Json::Array(items) => {
                out.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(out, "{comma}{item}")?;
                }
                out.write_str("]")
            }
            Json::Object(members) => {
                out.write_str("{")?;
                for (place, (key, value)) in members.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(out, "{comma}{}:{value}", Quoted(key))?;
                }
                out.write_str("}")
            }
        }
    }
}

/// A text as a JSON string.
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("\"")?;
        let mut plain = 0;
        for (place, byte) in self.0.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x00..=0x1f => "",
                _ => continue,
            };
            out.write_str(&self.0[plain..place])?;
            plain = place + 1;
            if escape.is_empty() {
                write!(out, "\\u{byte:04x}")?;
            } else {
                out.write_str(escape)?;
            }
        }
        out.write_str(&self.0[plain..])?;
        out.write_str("\"")
    }
}
