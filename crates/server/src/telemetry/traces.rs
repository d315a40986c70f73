//! Export of traces to a collector by OTLP, HTTP and protobuf: the spans of `http-actix`, one for each request.
//!
//! The library sends spans in batches from a thread of its own. Spans that the collector doesn't take are lost; no
//! request waits for it.

use anyhow::{Context, Result};
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use std::time::Duration;

/// Longest wait for the collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for the last spans when the process ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends spans to a collector.
#[derive(Clone)]
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// `endpoint` is the collector's URL; the standard path of traces is added. Call it outside any runtime: the HTTP
    /// client blocks, on threads of its own.
    pub(crate) fn start(endpoint: &str) -> Result<Self> {
        // A proxy that the environment names is meant for requests to the outside.
        let client = reqwest::blocking::Client::builder().timeout(TIMEOUT).no_proxy().build();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.context("cannot export traces")?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(TIMEOUT)
            .build()
            .context("cannot export traces")?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name("platen").with_attribute(version).build();
        Ok(Self(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build()))
    }

    pub(super) fn tracer(&self) -> SdkTracer {
        self.0.tracer("platen")
    }

    /// Sends the spans that wait; at the end of the process.
    pub(crate) async fn close(self) {
        let closed = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(CLOSE_TIMEOUT)).await;
        if let Ok(Err(error)) = closed {
            tracing::warn!(%error, "the last traces are lost");
        }
    }
}
