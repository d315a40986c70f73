//! Escapes in stored text: clients must not control the operator's terminal.

use domain::text::is_control;
use std::borrow::Cow;
use std::fmt::Write;

/// `text` in one line that controls no terminal.
pub(in crate::cli) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push_escaped(&mut shown, character);
    }
    Cow::Owned(shown)
}

/// Appends a character as [`escape`] shows it.
pub(in crate::cli) fn push_escaped(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        // Writing to a string can't fail.
        '\0'..='\x1F' | '\x7F' => drop(write!(shown, "\\x{:02x}", u32::from(character))),
        control if is_control(control) => drop(write!(shown, "\\u{{{:x}}}", u32::from(control))),
        other => shown.push(other),
    }
}

/// JSON text, the same value, in which what a terminal may take for an order is escaped as JSON does it. Line feeds
/// stay: outside texts they only lay it out, and within them JSON has none.
pub(in crate::cli) fn escape_json(json: &str) -> Cow<'_, str> {
    let is_control = |character| character != '\n' && is_control(character);
    if !json.contains(is_control) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_control(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_to_a_terminal_are_escaped() {
        let hostile = "a\x1b[2J\x07\tb\r\nc\x7f\u{9b}31m\u{202e}gpj\u{2066}\u{feff}\u{200b}\u{e0041}";
        let shown = "a\\x1b[2J\\x07\\tb\\r\\nc\\x7f\\u{9b}31m\\u{202e}gpj\\u{2066}\\u{feff}\\u{200b}\\u{e0041}";
        assert_eq!(escape(hostile), shown);
        assert!(!escape(hostile).contains(is_control));
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["Größe 12 µm", "日本語", "👩\u{200d}🎨", "e\u{301}", "C:\\temp", "می\u{200c}خواهم", "\u{a0}"]
        {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "a\u{9b}": "x\u{202e}\u{e0041}\x7f\x1b\n\u{2028}ä" });
        for json in [value.to_string(), format!("{value:#}")] {
            let shown = escape_json(&json);
            assert!(!shown.contains(|character| character != '\n' && is_control(character)), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
