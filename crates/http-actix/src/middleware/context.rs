//! The context of a request. When it is dropped, the request has ended: its line is logged and its metrics are
//! recorded, once for each request, however it ended (decisions R4, A9).

#[cfg(test)]
mod tests;

use super::client;
use crate::error::ApiError;
use crate::extract::headers::{credential_kind, credentials};
use crate::services::{RefusalSink, Settings};
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use domain::access::ClaimedComputer;
use domain::activity::{ActivityRecorder, Fetch, ResourceKey};
use domain::caller::Caller;
use domain::checksum::Sha1Checksum;
use domain::clock::{Clock, IdSource};
use domain::refusal::{NewRefusal, Owner};
use domain::text::cut;
use metering::catalog;
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{TraceContextExt, TraceId};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use std::cell::{Cell, OnceCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const TRACEPARENT: &str = "traceparent";

/// Characters of a path in the log.
const MAX_PATH: usize = 200;

/// The outcome of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) status: u16,
    /// Bytes of the body of the response.
    pub(crate) sent: u64,
    pub(crate) is_whole: bool,
}

/// The end of a request whose client disconnected before the response. The status is for the log only.
const DISCONNECTED: Ending = Ending { status: 499, sent: 0, is_whole: false };

/// A request while it runs.
pub(crate) struct RequestContext {
    pub(crate) request_id: String,
    /// The address that sent it: the peer's, or the one that a trusted proxy names.
    pub(crate) client: Option<IpAddr>,
    pub(crate) span: Span,
    /// The path as it was sent, cut to [`MAX_PATH`].
    path: String,
    method: Method,
    operation: Cell<&'static str>,
    caller: OnceCell<Arc<Caller>>,
    /// The computer that an unauthenticated client claims to be: for the operator, never for the response.
    claimed: Cell<Option<ClaimedComputer>>,
    trace: Option<TraceId>,
    /// The content that the client has once the response is sent completely.
    fetched: Cell<Option<(ResourceKey, Sha1Checksum)>>,
    /// The code of its refusal.
    refusal: Cell<Option<&'static str>>,
    ending: Cell<Option<Ending>>,
    /// Bytes of its body so far.
    received: Cell<u64>,
    started: Instant,
    clock: Arc<dyn Clock>,
    activity: Arc<ActivityRecorder>,
}

impl RequestContext {
    /// The context of a request. The first call creates it.
    pub(crate) fn of(request: &HttpRequest) -> Rc<Self> {
        if let Some(context) = request.extensions().get::<Rc<Self>>() {
            return Rc::clone(context);
        }
        let context = Rc::new(Self::begin(request));
        request.extensions_mut().insert(Rc::clone(&context));
        context
    }

    fn begin(request: &HttpRequest) -> Self {
        let settings = Settings::of(request);
        let headers = request.headers();
        let peer = request.peer_addr().map(|peer| peer.ip());
        let client = peer.map(|peer| client::address(peer, headers, &settings.trusted_proxies));
        let request_id = request_id(headers, &*settings.ids);
        let path = cut(request.uri().path(), MAX_PATH);
        let span = tracing::info_span!(
            "request",
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = %request.method(),
            url.path = path,
            http.response.status_code = Empty,
            http.request.body.size = Empty,
            http.response.body.size = Empty,
            client.address = client.map(display),
            platen.request_id = request_id,
            platen.organization = Empty,
            error.r#type = Empty,
        );
        catalog::HTTP_REQUESTS_RUNNING.with([]).increment(1.0);
        Self {
            trace: join_trace(&span, headers),
            request_id,
            client,
            span,
            path,
            method: request.method().clone(),
            operation: Cell::new("none"),
            caller: OnceCell::new(),
            claimed: Cell::new(None),
            fetched: Cell::new(None),
            refusal: Cell::new(None),
            ending: Cell::new(None),
            received: Cell::new(0),
            started: Instant::now(),
            clock: Arc::clone(&settings.clock),
            activity: Arc::clone(&settings.activity),
        }
    }

    /// The path as it was sent, cut to 200 characters.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn set_operation(&self, operation: &'static str) {
        self.operation.set(operation);
    }

    /// Sets the caller and records the request as admitted (decision I8).
    pub(crate) fn set_caller(&self, caller: Arc<Caller>) {
        self.activity.admitted(&caller, self.client.map(|client| client.to_string()), self.clock.now());
        // A request is authenticated once.
        let _ = self.caller.set(caller);
    }

    /// Sets the content to record as fetched once the response is sent completely (decision I9).
    pub(crate) fn set_fetched(&self, resource: ResourceKey, checksum: Sha1Checksum) {
        self.fetched.set(Some((resource, checksum)));
    }

    pub(crate) fn set_claimed(&self, computer: Option<ClaimedComputer>) {
        self.claimed.set(computer);
    }

    /// Bytes of the request's body so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.get()
    }

    pub(crate) fn count_received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }

    pub(crate) fn end(&self, ending: Ending) {
        self.ending.set(Some(ending));
    }

    /// Logs an error of the server with its cause, or counts a refusal.
    pub(crate) fn log_error(&self, error: &ApiError) {
        if let Some(cause) = error.cause() {
            let operation = self.operation.get();
            tracing::error!(request_id = self.request_id, operation, cause, "a request failed on our side");
        }
        if let Some(reason) = error.code() {
            self.refusal.set(Some(reason));
            let organization = self.caller.get().map_or("", |caller| &caller.organization_name);
            catalog::REFUSALS.with([organization, reason]).increment(1);
        }
    }

    /// Passes a refusal to the [`RefusalSink`], if the client may have to fix its cause.
    pub(crate) fn record_refusal(&self, error: &ApiError, request: &HttpRequest) {
        let sink = request.app_data::<Data<dyn RefusalSink>>();
        let Some((sink, reason)) = sink.zip(error.code().filter(|_| error.is_recorded())) else {
            return;
        };
        let headers = request.headers();
        let address = self.client.map(|client| client.to_string());
        let refusal = NewRefusal {
            at: self.clock.now(),
            owner: Owner::Address(address.clone().unwrap_or_default()),
            operation: self.operation.get().to_owned(),
            credential: credential_kind(headers),
            user: None,
            computer: None,
            named: None,
            serial_number: String::new(),
            application_version: String::new(),
            address,
            status: error.status().as_u16(),
            reason: reason.to_owned(),
            detail: error.detail().to_string(),
            request_id: self.request_id.clone(),
        };
        sink.record(match self.caller.get() {
            Some(caller) => refusal.of_caller(caller),
            None => refusal.of_unauthenticated(&credentials(headers), self.claimed.get()),
        });
    }
}

impl Drop for RequestContext {
    fn drop(&mut self) {
        let _entered = self.span.enter();
        let Ending { status, sent, is_whole } = self.ending.get().unwrap_or(DISCONNECTED);
        let (operation, received, duration) = (self.operation.get(), self.received.get(), self.started.elapsed());
        catalog::HTTP_REQUESTS_RUNNING.with([]).decrement(1.0);
        catalog::HTTP_REQUESTS.with([operation, &status.to_string()]).increment(1);
        catalog::HTTP_REQUEST_DURATION.with([operation]).record(duration);
        catalog::HTTP_RECEIVED.with([operation]).increment(received);
        catalog::HTTP_SENT.with([operation]).increment(sent);
        let caller = self.caller.get();
        if let (Some(caller), Some((resource, checksum)), true) = (caller, self.fetched.get(), is_whole) {
            self.activity.fetched(caller, resource, Fetch { checksum, at: self.clock.now() });
        }
        let organization = caller.map(|caller| caller.organization_name.as_str());
        tracing::info!(
            request_id = self.request_id,
            trace_id = self.trace.map(display),
            method = %self.method,
            path = self.path,
            operation,
            organization,
            user = caller.and_then(|caller| caller.user.as_deref()),
            computer = caller.and_then(|caller| caller.computer.as_ref()).map(|computer| display(computer.guid)),
            client = self.client.map(display),
            status,
            reason = self.refusal.get(),
            bytes_in = received,
            bytes_out = sent,
            duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            broke_off = !is_whole,
            "answered"
        );
        self.span.context().span().update_name(operation);
        self.span.record("http.response.status_code", status);
        self.span.record("http.request.body.size", received);
        self.span.record("http.response.body.size", sent);
        self.span.record("platen.organization", organization);
        self.span.record("error.type", self.refusal.get());
        if status >= 500 {
            self.span.record("otel.status_code", "ERROR");
        }
    }
}

/// The client's id if it is valid, else a new one (decision R4).
fn request_id(headers: &HeaderMap, ids: &dyn IdSource) -> String {
    let is_usable = |id: &&str| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    let sent = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(is_usable);
    sent.map_or_else(|| ids.guid().as_hyphenated().to_string(), str::to_owned)
}

/// Adds `span` to the client's trace, if the client names one (W3C Trace Context). Returns the trace of
/// the request: the client's, else the one that the subscriber began, else none.
fn join_trace(span: &Span, headers: &HeaderMap) -> Option<TraceId> {
    let parent =
        headers.contains_key(TRACEPARENT).then(|| TraceContextPropagator::new().extract(&TraceHeaders(headers)));
    let sent = parent.as_ref().and_then(trace_id);
    if let Some(parent) = parent.filter(|_| sent.is_some()) {
        // It fails without a subscriber that exports traces: then there is nothing to join.
        drop(span.set_parent(parent));
    }
    sent.or_else(|| trace_id(&span.context()))
}

fn trace_id(context: &Context) -> Option<TraceId> {
    let span = context.span();
    let context = span.span_context();
    context.is_valid().then(|| context.trace_id())
}

struct TraceHeaders<'a>(&'a HeaderMap);

impl Extractor for TraceHeaders<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}
