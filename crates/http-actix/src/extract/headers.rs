//! Request headers as text, and a parser for the parameters of a header.

use actix_web::http::header::{HeaderMap, HeaderName};

/// Every value of a header in the order in which they were sent.
pub(crate) fn texts(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    headers.get_all(name).map(|value| text(value.as_bytes())).collect()
}

/// The values of a header as one: equal ones count once, different ones are joined by commas.
pub(crate) fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut values = texts(headers, name);
    values.dedup();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Decodes UTF-8, else Latin-1, which old clients send.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// The part of a header before its parameters: `text/plain` of `text/plain; charset=utf-8`.
pub(crate) fn essence(header: &str) -> &str {
    header.split(';').next().unwrap_or_default().trim()
}

/// The parameter `name` of a header such as Content-Type or Content-Disposition: the first one of
/// this name, without case; values may be quoted.
pub(crate) fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (found, after) = rest.split_once('=')?;
        // Text without a value may stand before: it ends at the last semicolon.
        let found = found.rsplit(';').next().unwrap_or_default().trim();
        let (value, after) = take_value(after.trim_start());
        if found.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after.split_once(';')?.1;
    }
}

/// A token or quoted string at the start of `text`, and what follows it.
fn take_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[place + 1..]),
            // Only these two are escaped. Other backslashes belong to Windows paths.
            '\\' if quoted[place + 1..].starts_with(['"', '\\']) => {
                value.extend(characters.next().map(|(_, escaped)| escaped));
            }
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_found_without_case_and_quoted() {
        let header = "form-data; Name=\"a;b=\\\"c\\\"\"; filename=\"C:\\x\\y.icc\"; x; size = 12 ; empty=";
        let expected = [
            ("name", Some("a;b=\"c\"")),
            ("FILENAME", Some("C:\\x\\y.icc")),
            ("size", Some("12")),
            ("empty", Some("")),
            ("b", None),
            ("x", None),
        ];
        for (name, value) in expected {
            assert_eq!(parameter(header, name).as_deref(), value, "{name}");
        }
        assert_eq!(parameter("form-data; name=\"open", "name").as_deref(), Some("open"));
        assert_eq!(parameter("form-data", "name"), None);
    }

    #[test]
    fn equal_values_count_once_and_different_ones_are_joined() {
        let name = HeaderName::from_static("timestamp");
        let mut headers = HeaderMap::new();
        assert_eq!(joined(&headers, &name), None);
        headers.append(name.clone(), HeaderValue::from_static(""));
        assert_eq!(joined(&headers, &name).as_deref(), Some(""));
        headers.append(name.clone(), HeaderValue::from_static(""));
        assert_eq!(joined(&headers, &name).as_deref(), Some(""));
        headers.append(name.clone(), HeaderValue::from_static("b"));
        assert_eq!(joined(&headers, &name).as_deref(), Some(", b"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin1() {
        assert_eq!(text("Größe".as_bytes()), "Größe");
        assert_eq!(text(b"Gr\xf6\xdfe"), "Größe");
    }

    proptest! {
        #[test]
        fn a_quoted_value_is_read_back(value in any::<String>(), other in any::<String>()) {
            let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
            let header = format!("form-data; other=\"{}\"; name=\"{}\"", quote(&other), quote(&value));
            prop_assert_eq!(parameter(&header, "name"), Some(value));
        }

        #[test]
        fn no_header_panics(header in any::<String>()) {
            let _ = parameter(&header, "name");
        }
    }
}
