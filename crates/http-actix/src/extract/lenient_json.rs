//! JSON bodies as extractors (decisions R3, R5, R6, R10).

use super::body::{Body, check_length};
use super::coding::Coding;
use super::content_type::require_json;
use super::json;
use crate::error::ApiError;
use crate::services::Settings;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use domain::body::BodyError;
use domain::error::Reason;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde::de::DeserializeOwned;

/// A JSON body whose content type must be JSON too (decision R6).
pub(crate) struct LenientJson<T>(pub(crate) T);

/// A JSON body of any content type, for the operations whose list of errors has no 415 (decision R6).
pub(crate) struct AnyTypeJson<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for LenientJson<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let has_type = require_json(request.headers()).map_err(ApiError::from);
        let body = has_type.and_then(|()| read(request, payload, Reason::JsonExpected));
        async move { body?.await.map(Self) }.boxed_local()
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for AnyTypeJson<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = read(request, payload, Reason::NotProperlyFormatted);
        async move { body?.await.map(Self) }.boxed_local()
    }
}

/// Reads and parses the body; an unknown coding is refused for `bad_coding`.
fn read<T: DeserializeOwned>(
    request: &HttpRequest,
    payload: &mut Payload,
    bad_coding: Reason,
) -> Result<impl Future<Output = Result<T, ApiError>> + use<T>, ApiError> {
    let limit = Settings::of(request).limits.max_json_size;
    let coding = Coding::of(request.headers()).map_err(|detail| bad_coding.because(detail))?;
    check_length(request, coding, limit)?;
    let body = Body::new(request, payload, coding);
    Ok(async move {
        let text = body.collect(limit).await.map_err(|error| match error {
            // A body that breaks off or can't be decoded isn't valid JSON.
            BodyError::Malformed(detail) => Reason::JsonInvalid.because(detail),
            other => other.into(),
        })?;
        json::parse(&text).map_err(|problem| Reason::JsonInvalid.because(problem).into())
    })
}
