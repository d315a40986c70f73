//! The content types of request bodies (decisions R6, T12).

use super::headers::{essence, parameter, texts};
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use domain::error::{Failure, Reason};
use domain::text::cut;

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

    proptest! {
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
