//! The query of a request, and texts of the same form.

use crate::error::Problem;
use actix_web::dev::Payload;
use actix_web::error::QueryPayloadError;
use actix_web::web::Query as WebQuery;
use actix_web::{FromRequest, HttpRequest};
use domain::operator::OperatorError;
use domain::text::{cut, storable};
use serde::de::DeserializeOwned;
use std::future::{Ready, ready};

/// Longest text that is searched for, in characters. `SQLite` refuses patterns of more than 50,000 bytes.
const MAX_SEARCHED: usize = 200;

/// The members of a query; what it can't be read as is a problem.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let unreadable = |error: QueryPayloadError| OperatorError::invalid("query", error.to_string());
        ready(parsed(request.query_string()).map(Self).map_err(|error| unreadable(error).into()))
    }
}

/// The members of a query or of a form. U+0000 in them becomes U+FFFD: no database stores it (decision R9).
///
/// # Errors
/// A member is missing or has another form.
pub fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, QueryPayloadError> {
    let text = text.replace("%00", "%EF%BF%BD").replace('\0', "\u{FFFD}");
    WebQuery::<T>::from_query(&text).map(WebQuery::into_inner)
}

/// A member of a query; forms send empty ones where nothing is asked for.
#[must_use]
pub fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// A text that is searched for or compared with what is stored: at most 200 characters, as it would be stored (decision R9).
#[must_use]
pub fn searched(text: &str) -> String {
    storable(&cut(text, MAX_SEARCHED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Decision R9.
    #[test]
    fn no_member_holds_what_a_database_refuses() {
        let members: HashMap<String, String> = parsed("q=a%00b\0c&%00=%2500&p=%25%00").unwrap();
        let expected = [("q", "a\u{FFFD}b\u{FFFD}c"), ("\u{FFFD}", "%00"), ("p", "%\u{FFFD}")];
        assert_eq!(members, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn what_is_searched_for_is_bounded_and_storable() {
        assert_eq!(searched("Rip"), "Rip");
        assert_eq!(searched("a\0b"), "a\u{FFFD}b");
        assert_eq!(searched(&"ä".repeat(100_000)), "ä".repeat(200));
        assert_eq!(given(&Some(" \t".to_owned())), None);
    }
}
