//! Export of traces to a collector by OTLP, HTTP and protobuf: one span for each request.
//!
//! Spans are handed to a bounded queue and sent in batches by a thread of the library; what the
//! collector doesn't take in time is lost, and no request waits for it.

use anyhow::{Context, Result};
use async_trait::async_trait;
use domain::error::error_chain;
use http_actix::{RequestSpan, TraceSink};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;

/// Longest wait for the collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for the last spans when the process ends.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// Sends spans to a collector.
pub(crate) struct OtlpTraces {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
}

impl OtlpTraces {
    /// `endpoint` is the collector's URL, to which the standard path of traces is added. It must be
    /// called within the runtime that carries the requests to the collector.
    pub(crate) fn start(endpoint: &str) -> Result<Self> {
        // A proxy that the environment names is meant for requests to the outside.
        let http = reqwest::Client::builder().timeout(TIMEOUT).no_proxy().build().context("cannot export traces")?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client { http, runtime: Handle::current(), is_failing: AtomicBool::new(false) })
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(TIMEOUT)
            .build()
            .context("cannot export traces")?;
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        let version = env!("CARGO_PKG_VERSION");
        let resource = Resource::builder().with_service_name("platen");
        processor.set_resource(&resource.with_attribute(KeyValue::new("service.version", version)).build());
        Ok(Self { processor, scope: InstrumentationScope::builder("platen").with_version(version).build() })
    }

    /// Sends what waits; at the end of the process.
    pub(crate) async fn close(self: Arc<Self>) {
        let closed = tokio::task::spawn_blocking(move || self.processor.shutdown_with_timeout(LAST_WAIT));
        if let Ok(Err(error)) = closed.await {
            tracing::warn!(%error, "the last traces are lost");
        }
    }
}

impl TraceSink for OtlpTraces {
    fn record(&self, span: &RequestSpan<'_>) {
        let (trace, flags) = (span.trace, TraceFlags::SAMPLED);
        let id = TraceId::from_bytes(trace.id.0);
        let own = SpanId::from_bytes(span.id);
        let ended = time_of(span.ended.as_micros());
        let number = |number: u64| Value::I64(i64::try_from(number).unwrap_or(i64::MAX));
        let mut attributes = vec![
            KeyValue::new("http.request.method", span.method.to_owned()),
            KeyValue::new("url.path", span.path.to_owned()),
            KeyValue::new("http.response.status_code", i64::from(span.status)),
            KeyValue::new("http.request.body.size", number(span.received)),
            KeyValue::new("http.response.body.size", number(span.sent)),
            KeyValue::new("platen.request_id", span.request_id.to_owned()),
        ];
        attributes.extend(span.client.map(|client| KeyValue::new("client.address", client.to_string())));
        attributes.extend(span.organization.map(|name| KeyValue::new("platen.organization", name.to_owned())));
        attributes.extend(span.refusal.map(|reason| KeyValue::new("error.type", reason)));
        self.processor.on_end(SpanData {
            span_context: SpanContext::new(id, own, flags, false, TraceState::default()),
            parent_span_id: trace.parent.map_or(SpanId::INVALID, SpanId::from_bytes),
            parent_span_is_remote: trace.parent.is_some(),
            span_kind: SpanKind::Server,
            name: span.operation.into(),
            start_time: ended.checked_sub(span.duration).unwrap_or(UNIX_EPOCH),
            end_time: ended,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            // By convention a server's span is in error where the server is at fault.
            status: if span.status >= 500 { Status::error("") } else { Status::Unset },
            instrumentation_scope: self.scope.clone(),
        });
    }
}

fn time_of(micros: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// The way to the collector. The thread of the library knows no runtime, so the request runs on ours.
struct Client {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last batch was lost: only changes are told.
    is_failing: AtomicBool,
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Client")
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let http = self.http.clone();
        let sent = self.runtime.spawn(async move {
            let answer = http.execute(request).await?;
            let status = answer.status();
            Ok::<_, reqwest::Error>((status, answer.bytes().await?))
        });
        let outcome = sent.await?;
        let problem = match &outcome {
            Ok((status, _)) if status.is_success() => None,
            Ok((status, _)) => Some(format!("it answers {status}")),
            Err(error) => Some(error_chain(error)),
        };
        let was_failing = self.is_failing.swap(problem.is_some(), Ordering::Relaxed);
        if let Some(problem) = problem.filter(|_| !was_failing) {
            tracing::warn!(problem, "the collector takes no traces; they are lost until it does");
        }
        let (status, body) = outcome?;
        Ok(Response::builder().status(status).body(body)?)
    }
}
