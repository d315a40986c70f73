//! Which codings are decoded, and how far (decision R10).

use super::*;
use actix_web::http::header::HeaderValue;
use proptest::prelude::*;

fn parsed(headers: &[&str]) -> Result<Coding, String> {
    let mut map = HeaderMap::new();
    for header in headers {
        map.append(CONTENT_ENCODING, HeaderValue::from_bytes(header.as_bytes()).unwrap());
    }
    Coding::of(&map)
}

#[test]
fn one_known_coding_is_accepted() {
    // Decision R10.
    let expected = [
        (&[][..], Coding::Identity),
        (&["identity"], Coding::Identity),
        (&["GZIP"], Coding::Gzip),
        (&["x-gzip"], Coding::Gzip),
        (&["deflate"], Coding::Deflate),
        (&["identity, br"], Coding::Brotli),
        (&["", " zstd "], Coding::Zstd),
    ];
    for (headers, coding) in expected {
        assert_eq!(parsed(headers), Ok(coding), "{headers:?}");
    }
}

#[test]
fn unknown_and_several_codings_are_refused() {
    for headers in [&["compress"][..], &["gzip, gzip"], &["gzip", "br"], &["g zip"]] {
        assert!(parsed(headers).is_err(), "{headers:?}");
    }
}

#[test]
fn what_a_body_decodes_to_is_bounded_by_what_was_sent() {
    assert!(check_ratio(ALWAYS_DECODED, 1).is_ok());
    assert!(check_ratio(ALWAYS_DECODED + 1, 1).is_err());
    assert!(check_ratio(2_000_000_000, 10_000_000).is_ok());
    assert!(check_ratio(2_000_000_001, 10_000_000).is_err());
}

proptest! {
    #[test]
    fn no_header_panics_and_blanks_decide_nothing(names in prop::collection::vec("(gzip|BR|identity|\\PC{0,6})", 0..3)) {
        let spaced = format!(" {} ,", names.join(" , "));
        let named: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert_eq!(parsed(&named).ok(), parsed(&[&spaced]).ok());
    }
}
