//! XML with one element a line.

use quick_xml::events::{BytesText, Event};
use quick_xml::{Reader, Writer};

/// Bytes that are formatted, and that the result may have, at most. Indents grow with the depth.
const MAX_INPUT: usize = 256 * 1024;
const MAX_OUTPUT: usize = 1024 * 1024;

/// Elements within elements, at most.
const MAX_DEPTH: usize = 100;

/// The text with one element a line, each indented by its depth. `None` for a text that isn't well-formed, or is beyond
/// the bounds: it is shown as it is. Entities stay as they are written.
pub(crate) fn formatted(text: &str) -> Option<String> {
    if text.len() > MAX_INPUT {
        return None;
    }
    let mut reader = Reader::from_str(text);
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let (mut depth, mut elements) = (0_usize, 0_usize);
    loop {
        let event = match reader.read_event().ok()? {
            // Written as text, so that it stays in its line.
            Event::GeneralRef(entity) => Event::Text(BytesText::from_escaped(format!("&{};", entity.decode().ok()?))),
            other => other,
        };
        match &event {
            Event::Eof => break,
            Event::Start(_) => {
                depth += 1;
                elements += 1;
            }
            Event::End(_) => depth = depth.checked_sub(1)?,
            Event::Empty(_) => elements += 1,
            Event::Text(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            _ => {}
        }
        writer.write_event(event).ok()?;
        if depth > MAX_DEPTH || writer.get_ref().len() > MAX_OUTPUT {
            return None;
        }
    }
    (depth == 0 && elements > 0).then(|| String::from_utf8(writer.into_inner()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_has_a_line_of_its_own() {
        let text = "<?xml version=\"1.0\"?><report><os name=\"Windows\"/><a>x &amp; <b>y</b></a>\n\n <c></c></report>";
        let shown = formatted(text).unwrap();
        for line in ["<report>", "  <os name=\"Windows\"/>", "</report>"] {
            assert!(shown.lines().any(|shown| shown == line), "{line:?} is not a line of\n{shown}");
        }
        assert!(shown.contains("x &amp;"), "{shown}");
    }

    #[test]
    fn what_is_not_well_formed_or_too_large_is_left_as_it_is() {
        let deep = "<a>".repeat(2000) + &"</a>".repeat(2000);
        let long = format!("<a>{}</a>", "x".repeat(MAX_INPUT));
        for text in ["", "plain text", "<a>", "<a></b>", "</a>", "<a", "<a/></a>", &deep, &long] {
            assert_eq!(formatted(text), None, "{}", &text[..text.len().min(40)]);
        }
    }

    /// Entities aren't expanded, so they can't grow.
    #[test]
    fn entities_stay_as_they_are() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"xxxxxxxxxx\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;&c;&c;</a>";
        let shown = formatted(bomb).unwrap();
        assert!(shown.contains("&c;&c;&c;") && shown.len() < 2 * bomb.len(), "{shown}");
    }
}
