//! When two JSON texts are the same value (decision T2).

#[cfg(test)]
mod tests;

use serde_json::from_str;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Arrays and objects within each other; deeper ones are compared by their text.
const MAX_DEPTH: usize = 128;

/// One text for all JSON texts of one value: members sorted, numbers by value. Of members of one name the last counts.
pub(super) fn canonical(json: &str) -> String {
    canonical_within(json.trim(), MAX_DEPTH)
}

fn canonical_within(json: &str, depth: usize) -> String {
    let known = match json.as_bytes() {
        [b'[' | b'{', ..] if depth == 0 => None,
        [b'[', ..] => from_str(json).ok().map(|items: Vec<&RawValue>| {
            let items: Vec<String> = items.iter().map(|item| canonical_within(item.get(), depth - 1)).collect();
            format!("[{}]", items.join(","))
        }),
        [b'{', ..] => from_str(json).ok().map(|members: BTreeMap<String, &RawValue>| {
            let member = |(name, value): (&String, &&RawValue)| {
                format!("{}:{}", to_json(name), canonical_within(value.get(), depth - 1))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }),
        [b'"', ..] => from_str(json).ok().map(|text: String| to_json(&text)),
        [b'-' | b'0'..=b'9', ..] => canonical_number(json),
        _ => None,
    };
    known.unwrap_or_else(|| json.to_owned())
}

/// A text as JSON.
pub(super) fn to_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The one spelling of a number, exact for every magnitude: its digits without zeros at either end, and a power of ten.
/// `None` if the power doesn't fit into 128 bits.
fn canonical_number(spelling: &str) -> Option<String> {
    let (mantissa, exponent) = spelling.split_once(['e', 'E']).unwrap_or((spelling, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    let zeros = digits.len() - significant.len();
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let shift = i128::try_from(zeros).ok()?.checked_sub(i128::try_from(fraction.len()).ok()?)?;
    let power = exponent.parse::<i128>().ok()?.checked_add(shift)?;
    Some(format!("{sign}{significant}e{power}"))
}
