//! Forms: what was typed, and what is wrong with it.

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use domain::operator::OperatorError;
use http_actix::small_body;
use operator_actix::error::Problem;
use operator_actix::query::parsed;
use operator_actix::same_origin;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;

/// Bytes of a form at most.
const MAX_FORM: u64 = 16 * 1024;

/// The members of a form that was sent from a page of this server (decision P5).
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for Form<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let checked = same_origin::check(request.method(), request.headers());
        let is_form = request.content_type().eq_ignore_ascii_case("application/x-www-form-urlencoded");
        let body = small_body(request, payload, MAX_FORM);
        Box::pin(async move {
            checked?;
            let unreadable = || Problem::from(OperatorError::invalid("form", "can't be read"));
            let body = body.await.map_err(Problem::Body)?;
            let text = String::from_utf8(body).ok().filter(|_| is_form);
            let form = text.and_then(|text| parsed(&text).ok());
            form.map(Self).ok_or_else(unreadable)
        })
    }
}

/// What is wrong with the fields of a form, by field.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct FieldErrors(Vec<(&'static str, String)>);

impl FieldErrors {
    pub(crate) fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push((field, message.into()));
    }

    /// The value, or a note of what is wrong with it.
    pub(crate) fn take<T>(&mut self, field: &'static str, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.add(field, message)).ok()
    }

    /// What is wrong with a field; empty if nothing is.
    pub(crate) fn of(&self, field: &str) -> &str {
        self.0.iter().find(|(name, _)| *name == field).map_or("", |(_, message)| message)
    }

    /// Whether something is wrong with a field.
    pub(crate) fn has(&self, field: &str) -> bool {
        !self.of(field).is_empty()
    }
}
