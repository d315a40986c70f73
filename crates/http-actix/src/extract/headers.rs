//! Request headers: as text, the parameters of one, the content type (decisions R6, T12) and the credentials.

use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderName};
use domain::access::SentCredentials;
use domain::error::{Failure, Reason};
use domain::refusal::CredentialKind;
use domain::text::cut;

const MIS_KEY: HeaderName = HeaderName::from_static("miskey");

const HARDWARE_HASH: HeaderName = HeaderName::from_static("hardwarehash");

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
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[index + 1..]),
            // Only these two are escaped. Other backslashes belong to Windows paths.
            '\\' if quoted[index + 1..].starts_with(['"', '\\']) => {
                value.extend(characters.next().map(|(_, escaped)| escaped));
            }
            other => value.push(other),
        }
    }
    (value, "")
}

/// Requires a JSON content type.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), Failure> {
    let sent = content_type(headers);
    let is_json = |sent: &String| {
        let kind = essence(sent).to_ascii_lowercase();
        let structured = kind.strip_prefix("application/").is_some_and(|subtype| subtype.ends_with("+json"));
        structured || matches!(kind.as_str(), "application/json" | "text/json")
    };
    if sent.as_ref().is_some_and(is_json) { Ok(()) } else { Err(Reason::JsonExpected.because(shown(sent))) }
}

/// Requires multipart/form-data; returns its boundary.
pub(crate) fn require_multipart(headers: &HeaderMap) -> Result<String, Failure> {
    let sent = content_type(headers);
    let is_form = sent.as_deref().is_some_and(|sent| essence(sent).eq_ignore_ascii_case("multipart/form-data"));
    if !is_form {
        return Err(Reason::NotProperlyFormatted.because(shown(sent)));
    }
    // A proxy may join two lines of the header into one value.
    let is_joined = |sent: &String| sent.to_ascii_lowercase().matches("multipart/form-data").count() > 1;
    if texts(headers, &CONTENT_TYPE).len() > 1 || sent.as_ref().is_some_and(is_joined) {
        let detail = "the Content-Type was sent several times, or a proxy joined several, so the boundary is ambiguous";
        return Err(Reason::NotProperlyFormatted.because(detail));
    }
    let boundary = sent.and_then(|sent| parameter(&sent, "boundary"));
    match boundary.filter(|boundary| !boundary.is_empty()) {
        // RFC 2046 allows 70; more is tolerated, as long as it stays an ordinary line.
        Some(boundary) if boundary.len() <= 200 => Ok(boundary),
        Some(_) => Err(Reason::NotProperlyFormatted.because("the boundary of the Content-Type is too long")),
        None => Err(Reason::NotProperlyFormatted.because("the Content-Type names no boundary")),
    }
}

fn content_type(headers: &HeaderMap) -> Option<String> {
    texts(headers, &CONTENT_TYPE).into_iter().next()
}

fn shown(sent: Option<String>) -> String {
    match sent {
        Some(sent) => format!("the Content-Type sent is \"{}\"", cut(&sent, 100)),
        None => "the Content-Type is missing".to_owned(),
    }
}

/// Which credentials were sent, valid or not.
pub(crate) fn credential_kind(headers: &HeaderMap) -> CredentialKind {
    CredentialKind::of(headers.contains_key(MIS_KEY), headers.contains_key(HARDWARE_HASH))
}

/// The four authentication headers as they were sent (interface part 5). `domain` decides whether they are valid.
pub(crate) fn credentials(headers: &HeaderMap) -> SentCredentials {
    let values = |name: &'static str| texts(headers, &HeaderName::from_static(name));
    SentCredentials {
        mis_key: values("miskey"),
        hardware_hash: values("hardwarehash"),
        serial_number: values("serialnumber"),
        application_version: values("applicationversion"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    fn headers(content_type: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
        headers
    }

    #[test]
    fn json_has_several_names() {
        // Decision R6.
        let accepted =
            ["application/json", "Application/JSON ; charset=utf-8", "text/json", "application/problem+json"];
        for name in accepted {
            assert!(require_json(&headers(name)).is_ok(), "{name}");
        }
        for name in ["", "application/jsonp", "text/plain", "application/xml", "image/svg+json", "json"] {
            assert!(require_json(&headers(name)).is_err(), "{name}");
        }
        assert!(require_json(&HeaderMap::new()).is_err());
    }

    #[test]
    fn multipart_needs_a_boundary() {
        // Decision T12.
        let accepted = [
            ("multipart/form-data; boundary=abc", "abc"),
            ("Multipart/Form-Data; charset=utf-8; BOUNDARY=\"a b;c\"", "a b;c"),
        ];
        for (name, boundary) in accepted {
            assert_eq!(require_multipart(&headers(name)).ok().as_deref(), Some(boundary), "{name}");
        }
        let long = format!("multipart/form-data; boundary={}", "x".repeat(201));
        let refused = ["multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a", &long];
        for name in refused {
            assert!(require_multipart(&headers(name)).is_err(), "{name}");
        }
    }

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

        /// Decision T12.
        #[test]
        fn a_boundary_is_read_back_from_its_quoted_form(boundary in "[ -~]{1,200}", other in "[ -~]{0,20}") {
            let [quoted, other] = [&boundary, &other].map(|text| text.replace('\\', "\\\\").replace('"', "\\\""));
            let sent = headers(&format!("multipart/form-data; x=\"{other}\"; boundary=\"{quoted}\""));
            prop_assert_eq!(require_multipart(&sent).ok(), Some(boundary));
        }

        #[test]
        fn no_content_type_panics_or_is_of_both_kinds(sent in "[ -~]{0,40}", known in "(multipart/form-data|text/json)?") {
            let headers = headers(&format!("{known}{sent}"));
            prop_assert!(require_json(&headers).is_err() || require_multipart(&headers).is_err());
        }
    }
}
