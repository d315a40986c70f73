//! Who is told of requests that are over, beside the log and the metrics.

use crate::trace::Trace;
use domain::refusal::NewRefusal;
use domain::timestamp::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Who is told. Nobody, by default.
#[derive(Clone, Default)]
pub struct Observers {
    pub traces: Option<Arc<dyn TraceSink>>,
    pub refusals: Option<Arc<dyn RefusalSink>>,
}

/// Takes refusals of the API listener. It is called on the threads that serve, and never waits.
pub trait RefusalSink: Send + Sync {
    fn refused(&self, refusal: NewRefusal);
}

/// Takes spans. It is called on the threads that serve, and never waits.
pub trait TraceSink: Send + Sync {
    fn record(&self, span: &RequestSpan<'_>);
}

/// A request that is over, as a span of its trace.
#[derive(Debug)]
pub struct RequestSpan<'a> {
    pub trace: Trace,
    /// The id of the span itself.
    pub id: [u8; 8],
    pub ended: Timestamp,
    pub duration: Duration,
    pub request_id: &'a str,
    pub method: &'a str,
    pub path: &'a str,
    pub operation: &'static str,
    pub status: u16,
    pub organization: Option<&'a str>,
    pub client: Option<IpAddr>,
    /// The word for why it was refused.
    pub refusal: Option<&'static str>,
    /// Bytes of the body of the request, and of the answer.
    pub received: u64,
    pub sent: u64,
}
