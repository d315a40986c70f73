//! The ids of requests (decision R4).

use super::*;
use actix_web::http::header::HeaderValue;
use domain::testing::CountingIds;

#[test]
fn a_usable_request_id_is_kept() {
    // Decision R4.
    let ids = CountingIds::default();
    let with = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_str(value).unwrap());
        request_id(&headers, &ids)
    };
    let longest = "x".repeat(128);
    for id in ["a", "A.b_c-9", longest.as_str()] {
        assert_eq!(with(id), id);
    }
    for id in ["", "a b", "a/b", &"x".repeat(129), "\"a\""] {
        assert_eq!(with(id).len(), 36, "{id}");
    }
    assert_eq!(request_id(&HeaderMap::new(), &ids).len(), 36);
}
