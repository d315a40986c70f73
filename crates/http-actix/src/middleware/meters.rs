//! Metrics of requests.

use metering::catalog;
use std::time::Duration;

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finished {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) duration: Duration,
    /// Bytes of the request body.
    pub(crate) received: u64,
    /// Bytes of the response body.
    pub(crate) sent: u64,
}

pub(crate) fn started() {
    catalog::HTTP_REQUESTS_RUNNING.with([]).increment(1.0);
}

pub(crate) fn finished(finished: Finished) {
    let Finished { operation, status, duration, received, sent } = finished;
    catalog::HTTP_REQUESTS_RUNNING.with([]).decrement(1.0);
    catalog::HTTP_REQUESTS.with([operation, &status.to_string()]).increment(1);
    catalog::HTTP_REQUEST_DURATION.with([operation]).record(duration);
    catalog::HTTP_RECEIVED.with([operation]).increment(received);
    catalog::HTTP_SENT.with([operation]).increment(sent);
}

pub(crate) fn refused(reason: &'static str) {
    catalog::REFUSALS.with([reason]).increment(1);
}

pub(crate) fn authentication_failed(reason: &'static str) {
    catalog::AUTHENTICATION_FAILURES.with([reason]).increment(1);
}
