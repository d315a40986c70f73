//! The query of a request.

use crate::error::Problem;
use actix_web::dev::Payload;
use actix_web::web::Query as WebQuery;
use actix_web::{FromRequest, HttpRequest};
use domain::operator::OperatorError;
use serde::de::DeserializeOwned;
use std::future::{Ready, ready};

/// The members of a query; what it can't be read as is a problem.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let read = WebQuery::<T>::from_query(request.query_string());
        let unreadable =
            |error: actix_web::error::QueryPayloadError| OperatorError::invalid("query", error.to_string());
        ready(read.map(|query| Self(query.into_inner())).map_err(|error| unreadable(error).into()))
    }
}

/// A member of a query; forms send empty ones where nothing is asked for.
#[must_use]
pub fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}
