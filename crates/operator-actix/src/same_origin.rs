//! Which changes a page of another site may have caused (decision P5).

use crate::error::Problem;
use actix_web::http::Method;
use actix_web::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Passes a request that carries the cookie of a session and changes nothing, or comes from a page of this server.
///
/// # Errors
/// [`Problem::CrossSite`]
pub fn check(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if method.is_safe() || is_same_origin(headers) { Ok(()) } else { Err(Problem::CrossSite) }
}

fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if headers.contains_key(SEC_FETCH_SITE) {
        return matches!(text(SEC_FETCH_SITE), Some("same-origin" | "none"));
    }
    // Browsers leave the header out on plain HTTP in a local network.
    let origin = text(ORIGIN).and_then(|origin| origin.split_once("://"));
    origin.zip(text(HOST)).is_some_and(|((_, origin), host)| origin.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn passes(method: &Method, lines: &[(HeaderName, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        check(method, &headers).is_ok()
    }

    /// Decision P5.
    #[test]
    fn a_change_passes_from_a_page_of_the_same_origin_only() {
        for (site, expected) in [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)] {
            assert_eq!(passes(&Method::POST, &[(SEC_FETCH_SITE, site)]), expected, "{site}");
            let with_origin = [(SEC_FETCH_SITE, site), (ORIGIN, "http://rip:8080"), (HOST, "rip:8080")];
            assert_eq!(passes(&Method::DELETE, &with_origin), expected, "{site}");
        }
    }

    /// Decision P5.
    #[test]
    fn without_that_header_the_origin_must_name_the_host() {
        let with = |origin, host| passes(&Method::POST, &[(ORIGIN, origin), (HOST, host)]);
        assert!(
            with("http://192.168.1.5:8080", "192.168.1.5:8080") && with("https://Platen.example", "platen.example")
        );
        assert!(!with("http://192.168.1.5", "192.168.1.5:8080") && !with("http://evil.example", "platen.example"));
        assert!(!with("null", "platen.example"));
        assert!(!passes(&Method::POST, &[(HOST, "platen.example")]), "neither header");
        assert!(!passes(&Method::PATCH, &[]));
    }

    /// Decision P5.
    #[test]
    fn what_changes_nothing_passes_from_anywhere() {
        for method in [Method::GET, Method::HEAD] {
            assert!(passes(&method, &[(SEC_FETCH_SITE, "cross-site")]));
        }
    }
}
