//! The authenticated caller as an extractor.

use crate::error::ApiError;
use crate::middleware::context::RequestContext;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use domain::error::StoreError;
use std::future::{Ready, ready};
use std::ops::Deref;
use std::sync::Arc;

/// Who calls. Only routes with [`authenticate`](crate::middleware::authenticate) have one.
#[derive(Debug, Clone)]
pub(crate) struct Caller(Arc<domain::caller::Caller>);

impl Deref for Caller {
    type Target = domain::caller::Caller;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromRequest for Caller {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = RequestContext::of(request).caller().map(|caller| Self(Arc::clone(caller)));
        ready(caller.ok_or_else(|| StoreError::other("the route has no authentication").into()))
    }
}
