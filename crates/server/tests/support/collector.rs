//! A collector of traces: takes OTLP by HTTP and protobuf, and keeps what it was sent.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

type Exports = Arc<Mutex<Vec<ExportTraceServiceRequest>>>;

/// A listening collector.
pub(crate) struct Collector {
    /// What is configured: without the path of traces.
    pub(crate) url: String,
    exports: Exports,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let exports = Exports::default();
        let kept = Arc::clone(&exports);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                let service = service_fn(move |request| take(Arc::clone(&kept), request));
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, exports }
    }

    /// What was sent so far.
    pub(crate) fn exports(&self) -> Vec<ExportTraceServiceRequest> {
        self.exports.lock().unwrap().clone()
    }
}

async fn take(kept: Exports, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!(request.uri().path(), "/v1/traces");
    assert_eq!(request.headers()["Content-Type"], "application/x-protobuf");
    let body = request.into_body().collect().await.unwrap().to_bytes();
    kept.lock().unwrap().push(ExportTraceServiceRequest::decode(body).unwrap());
    Ok(Response::new(Full::new(Bytes::new())))
}
