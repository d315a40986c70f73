//! The JSON body of a request.

use crate::error::Problem;
use actix_web::dev::Payload;
use actix_web::error::JsonPayloadError;
use actix_web::web::Json as WebJson;
use actix_web::{FromRequest, HttpRequest};
use domain::operator::OperatorError;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;

/// A body of JSON; what it can't be read as is a problem.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let read = WebJson::<T>::from_request(request, payload);
        Box::pin(async move {
            let unreadable = |error: actix_web::Error| {
                let cause = error.as_error::<JsonPayloadError>().map_or_else(|| error.to_string(), ToString::to_string);
                Problem::from(OperatorError::invalid("body", cause))
            };
            read.await.map(|body| Self(body.into_inner())).map_err(unreadable)
        })
    }
}
