//! What is decided from the head of a request alone, in the order of decision R1: the path, the
//! credentials, the format of the body, its announced size. A request that waits for `100 Continue` is
//! refused here before its body is asked for (decision R10).

use crate::error::Fault;
use crate::exchange::{Exchange, declared_length};
use crate::extract::{credentials, media};
use crate::headers::texts;
use crate::intake::Coding;
use crate::route::{Match, Operation};
use crate::server::Shared;
use crate::uploads::Upload;
use actix_web::dev::RequestHead;
use actix_web::http::header::CONTENT_ENCODING;
use domain::access::{AuthenticationFailure, CredentialMessages};
use domain::caller::Caller;
use domain::error::{Failure, Reason, Refusal};
use std::rc::Rc;

/// Room for what a multipart body holds beside the contents of its parts.
const MULTIPART_ROOM: u64 = 64 * 1024;

/// A request that may go on.
pub(crate) enum Admitted {
    /// An operation that asks for no credentials.
    Open(Operation),
    Called(Box<Admission>),
}

/// A request with a caller.
pub(crate) struct Admission {
    pub(crate) operation: Operation,
    /// The GUID that the path names.
    pub(crate) guid: Option<String>,
    pub(crate) caller: Rc<Caller>,
    pub(crate) coding: Coding,
    /// Of a multipart body.
    pub(crate) boundary: String,
    /// Its turn among the uploads, to be kept until all is stored.
    pub(crate) upload: Option<Upload>,
}

/// Decides on the head of a request.
pub(crate) async fn admit(shared: &Shared, exchange: &Exchange, head: &RequestHead) -> Result<Admitted, Fault> {
    let (operation, guid) = match &exchange.route {
        Match::NoPath => return Err(Fault::NotFound),
        Match::NoMethod { allow } => return Err(Fault::MethodNotAllowed { allow: allow.clone() }),
        Match::Found { operation, guid } => (*operation, guid.clone()),
    };
    if operation.is_open() {
        return Ok(Admitted::Open(operation));
    }
    let caller = Rc::new(authenticate(shared, exchange, operation, head).await?);
    exchange.called_by(&caller);
    let boundary = check_media(operation, head)?;
    let coding = check_coding(operation, head)?;
    check_length(shared, operation, coding, head)?;
    let upload = await_turn(shared, operation, &caller).await?;
    Ok(Admitted::Called(Box::new(Admission { operation, guid, caller, coding, boundary, upload })))
}

async fn authenticate(
    shared: &Shared,
    exchange: &Exchange,
    operation: Operation,
    head: &RequestHead,
) -> Result<Caller, Fault> {
    let sent = &credentials::sent(&head.headers);
    let (throttle, clock, client) = (&shared.config.throttle, &shared.config.clock, exchange.client);
    if let Some(wait) = client.and_then(|client| throttle.wait(client, sent, clock.now())) {
        return Err(Fault::Throttled { wait });
    }
    let wording = if operation == Operation::AddCrashReport {
        CredentialMessages::CrashReport
    } else {
        CredentialMessages::Common
    };
    let admitted = shared.services.access.authenticate(sent, wording).await;
    if let Err(AuthenticationFailure { failure: Failure::Refused(Refusal { reason, detail }), computer }) = &admitted {
        if let Some(computer) = *computer {
            exchange.names(computer);
        }
        let [mis_key, hardware_hash] = sent.digests();
        let client = client.map(|client| client.to_string());
        exchange.authentication_failed(reason.code());
        tracing::warn!(
            request_id = exchange.request_id,
            client,
            mis_key = mis_key.map(tracing::field::debug),
            hardware_hash = hardware_hash.map(tracing::field::debug),
            reason = reason.code(),
            detail = detail.as_str(),
            "authentication failed"
        );
    }
    let is_looked_up = admitted.as_ref().err().is_none_or(AuthenticationFailure::is_wrong);
    if let Some(client) = client.filter(|_| is_looked_up) {
        let is_used_up = throttle.note(client, sent, admitted.as_ref().ok(), clock.now());
        if is_used_up {
            tracing::warn!(
                request_id = exchange.request_id,
                client = %client,
                "requests of this client fail to authenticate too often; more are refused until it fails less"
            );
        }
    }
    admitted.map_err(|not_admitted| not_admitted.failure.into())
}

/// Whoever has to wait does so before the body is asked for (decision R10).
async fn await_turn(shared: &Shared, operation: Operation, caller: &Caller) -> Result<Option<Upload>, Fault> {
    if !matches!(operation, Operation::AddResource | Operation::AddCrashReport) {
        return Ok(None);
    }
    let turn = shared.uploads.begin(caller.organization).await;
    turn.map(Some).map_err(|full| Fault::TooManyUploads { full })
}

/// What of the body's format the Content-Type says; the boundary of a multipart body.
fn check_media(operation: Operation, head: &RequestHead) -> Result<String, Failure> {
    match operation {
        Operation::AddResource | Operation::AddCrashReport => media::require_multipart(&head.headers),
        Operation::ListResources | Operation::AddLog | Operation::ListLogs => {
            media::require_json(&head.headers).map(|()| String::new())
        }
        _ => Ok(String::new()),
    }
}

fn check_coding(operation: Operation, head: &RequestHead) -> Result<Coding, Failure> {
    let reason = match operation {
        Operation::ListResources | Operation::AddLog | Operation::ListLogs => Reason::JsonExpected,
        Operation::AddResource | Operation::AddCrashReport | Operation::FindByPmm | Operation::UpdateDeviceStatus => {
            Reason::NotProperlyFormatted
        }
        // These read no body.
        _ => return Ok(Coding::Identity),
    };
    Coding::parse(&texts(&head.headers, &CONTENT_ENCODING)).map_err(|detail| reason.because(detail))
}

/// The limit counts decoded bytes: the announced length of an encoded body says nothing about it.
fn check_length(shared: &Shared, operation: Operation, coding: Coding, head: &RequestHead) -> Result<(), Failure> {
    let limits = &shared.config.limits;
    let limit = match operation {
        Operation::AddResource => {
            limits.max_resource_size.saturating_add(limits.max_json_size).saturating_add(MULTIPART_ROOM)
        }
        Operation::ListResources
        | Operation::FindByPmm
        | Operation::AddLog
        | Operation::ListLogs
        | Operation::UpdateDeviceStatus => limits.max_json_size,
        // Of an oversized crash report the call stack is kept (decision C6). Others read no body.
        _ => return Ok(()),
    };
    match declared_length(&head.headers) {
        Some(length) if length > limit && coding == Coding::Identity => {
            Err(Reason::BodyTooLarge.because(format!("Content-Length is {length}, the limit is {limit}")))
        }
        _ => Ok(()),
    }
}
