//! The trace that a request belongs to, by the header `traceparent` (W3C Trace Context).

use actix_web::http::header::{HeaderMap, HeaderName};
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{TraceContextExt, TraceId};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

const TRACEPARENT: &str = "traceparent";

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

/// Adds `span` to the client's trace, if the client names one. Returns the trace of the request: the client's, else the
/// one that the subscriber began, else none.
pub(crate) fn join(span: &Span, headers: &HeaderMap) -> Option<TraceId> {
    let parent = headers.contains_key(TRACEPARENT).then(|| TraceContextPropagator::new().extract(&Headers(headers)));
    let named = parent.as_ref().and_then(trace_id);
    if let Some(parent) = parent.filter(|_| named.is_some()) {
        // Without a subscriber that exports traces there is nothing to join.
        drop(span.set_parent(parent));
    }
    named.or_else(|| trace_id(&span.context()))
}

/// Names a span that has begun already.
pub(crate) fn rename(span: &Span, name: &'static str) {
    span.context().span().update_name(name);
}

fn trace_id(context: &Context) -> Option<TraceId> {
    let span = context.span();
    let context = span.span_context();
    context.is_valid().then(|| context.trace_id())
}
