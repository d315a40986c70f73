//! Authentication of a route (interface part 5, decision R1): before any body is read, and after the path and the method
//! are known, so that 404 and 405 need no credentials.

use super::context::RequestContext;
use crate::error::ApiError;
use crate::extract::headers::credentials;
use crate::services::Settings;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
use domain::access::{AccessService, AuthenticationFailure, CredentialMessages, SentCredentials};
use domain::caller::Caller;
use domain::error::{Failure, Reason, Refusal};
use metering::catalog;
use std::sync::Arc;

/// Authenticates the request, then calls the handler with the caller among the extensions of the request.
pub(crate) async fn authenticate(
    operation: &'static str,
    messages: CredentialMessages,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let context = RequestContext::of(request.request());
    context.set_operation(operation);
    match find_caller(&request, &context, messages).await {
        Ok(caller) => {
            let caller = Arc::new(caller);
            request.extensions_mut().insert(Arc::clone(&caller));
            context.set_caller(caller);
            Ok(next.call(request).await?.map_into_boxed_body())
        }
        Err(error) => Ok(request.error_response(error)),
    }
}

async fn find_caller(
    request: &ServiceRequest,
    context: &RequestContext,
    messages: CredentialMessages,
) -> Result<Caller, ApiError> {
    let Settings { throttle, clock, .. } = Settings::of(request.request());
    let sent = &credentials(request.headers());
    if let Some(wait) = context.client.and_then(|client| throttle.wait_time(client, sent, clock.now())) {
        return Err(ApiError::Throttled { wait });
    }
    let access = request.app_data::<Data<AccessService>>().expect("`configure` adds it");
    let found = access.authenticate(sent, messages).await;
    if let Err(AuthenticationFailure { failure: Failure::Refused(refusal), computer }) = &found
        && refusal.reason != Reason::Overloaded
    {
        context.set_claimed(*computer);
        catalog::AUTHENTICATION_FAILURES.with([refusal.reason.code()]).increment(1);
        log_failure(context, sent, refusal);
    }
    let was_looked_up = found.as_ref().err().is_none_or(AuthenticationFailure::is_wrong);
    if let Some(client) = context.client.filter(|_| was_looked_up)
        && throttle.record(client, sent, found.as_ref().ok(), clock.now())
    {
        tracing::warn!(
            request_id = context.request_id,
            client = %client,
            "requests of this client fail to authenticate too often; more are refused until it fails less"
        );
    }
    found.map_err(|error| error.failure.into())
}

/// Logs the client's address and the beginning of digests, never a credential (decision A9).
fn log_failure(context: &RequestContext, sent: &SentCredentials, refusal: &Refusal) {
    let [mis_key, hardware_hash] = sent.digests();
    tracing::warn!(
        request_id = context.request_id,
        client = context.client.map(tracing::field::display),
        mis_key = mis_key.map(tracing::field::debug),
        hardware_hash = hardware_hash.map(tracing::field::debug),
        reason = refusal.reason.code(),
        detail = refusal.detail.as_str(),
        "authentication failed"
    );
}
