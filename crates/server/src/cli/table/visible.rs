//! Stored text as it may be shown: clients must not control the operator's terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal may take a character for an order, or show nothing of it or the text around it in another
/// order: control characters (C0, DEL, C1), separators of lines, what turns the direction of writing, and what is
/// invisible by purpose. Joiners stay: scripts and pictures are written with them.
pub(in crate::cli) fn is_order(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// `text` in one line without any order to the terminal: such characters are written as escapes.
pub(in crate::cli) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_order) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push_visible(&mut shown, character);
    }
    Cow::Owned(shown)
}

/// Appends a character as [`visible`] shows it.
pub(in crate::cli) fn push_visible(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        // Writing to a string can't fail.
        '\0'..='\x1F' | '\x7F' => drop(write!(shown, "\\x{:02x}", u32::from(character))),
        order if is_order(order) => drop(write!(shown, "\\u{{{:x}}}", u32::from(order))),
        other => shown.push(other),
    }
}

/// JSON text, the same value, in which what a terminal may take for an order is escaped as JSON does it. Line feeds
/// stay: outside texts they only lay it out, and within them JSON has none.
pub(in crate::cli) fn visible_json(json: &str) -> Cow<'_, str> {
    let is_order = |character| character != '\n' && is_order(character);
    if !json.contains(is_order) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_order(character) {
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
        assert_eq!(visible(hostile), shown);
        assert!(!visible(hostile).contains(is_order));
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["Größe 12 µm", "日本語", "👩\u{200d}🎨", "e\u{301}", "C:\\temp", "می\u{200c}خواهم", "\u{a0}"]
        {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "a\u{9b}": "x\u{202e}\u{e0041}\x7f\x1b\n\u{2028}ä" });
        for json in [value.to_string(), format!("{value:#}")] {
            let shown = visible_json(&json);
            assert!(!shown.contains(|character| character != '\n' && is_order(character)), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
