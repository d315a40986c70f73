//! The JSON body of a request.

use crate::error::Problem;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use domain::operator::OperatorError;
use domain::text::storable;
use http_actix::small_body;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

/// Bytes of a body at most.
const MAX_BODY: u64 = 2 * 1024 * 1024;

/// A body of JSON; what it can't be read as is a problem. U+0000 in its texts becomes U+FFFD (decision R9).
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let is_json = request.content_type().eq_ignore_ascii_case("application/json");
        let body = small_body(request, payload, MAX_BODY);
        Box::pin(async move {
            let invalid = |message: String| Problem::from(OperatorError::invalid("body", message));
            if !is_json {
                return Err(invalid("must be application/json".to_owned()));
            }
            let bytes = body.await.map_err(Problem::Body)?;
            let value: Value = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
            serde_json::from_value(storable_value(value)).map(Self).map_err(|error| invalid(error.to_string()))
        })
    }
}

/// A value whose texts can be stored.
fn storable_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(storable(&text)),
        Value::Array(items) => items.into_iter().map(storable_value).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (storable(&name), storable_value(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Decision R9.
    #[test]
    fn no_text_of_a_body_holds_what_a_database_refuses() {
        let value = json!({ "a\0": ["b\0c", 7, null, { "d": "\0" }], "e": true });
        let expected = json!({ "a\u{FFFD}": ["b\u{FFFD}c", 7, null, { "d": "\u{FFFD}" }], "e": true });
        assert_eq!(storable_value(value), expected);
    }
}
