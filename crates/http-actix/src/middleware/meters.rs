//! What is counted of requests. Handles are looked up once, so that a request costs a few atomic steps.

use metering::{CounterHandle, Family, GaugeHandle, HistogramHandle, catalog};
use std::time::Duration;

/// Room for the operations, and for the statuses of one.
const OPERATIONS: usize = 32;
const STATUSES: usize = 16;

/// Room for the reasons to refuse.
const REASONS: usize = 96;

/// The handles of all listeners.
#[derive(Debug)]
pub(crate) struct Meters {
    pub(crate) running: GaugeHandle,
    operations: Family<&'static str, OperationMeters>,
    authentication_failures: Family<&'static str, CounterHandle>,
    refusals: Family<&'static str, CounterHandle>,
}

#[derive(Debug)]
struct OperationMeters {
    statuses: Family<(&'static str, u16), CounterHandle>,
    duration: HistogramHandle,
    received: CounterHandle,
    sent: CounterHandle,
}

/// A request that is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finished {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) duration: Duration,
    /// Bytes of the body of the request.
    pub(crate) received: u64,
    /// Bytes of the body of the answer.
    pub(crate) sent: u64,
}

impl Meters {
    /// Looks at the recorder that is installed by now.
    pub(crate) fn new() -> Self {
        Self {
            running: catalog::HTTP_REQUESTS_RUNNING.with([]),
            operations: Family::new(OPERATIONS, OperationMeters::new),
            authentication_failures: Family::new(REASONS, |reason| catalog::AUTHENTICATION_FAILURES.with([reason])),
            refusals: Family::new(REASONS, |reason| catalog::REFUSALS.with([reason])),
        }
    }

    pub(crate) fn finished(&self, finished: Finished) {
        let Finished { operation, status, duration, received, sent } = finished;
        self.running.decrement(1.0);
        self.operations.with(operation, |meters| {
            meters.statuses.with((operation, status), |requests| requests.increment(1));
            meters.duration.record(duration.as_secs_f64());
            meters.received.increment(received);
            meters.sent.increment(sent);
        });
    }

    pub(crate) fn refused(&self, reason: &'static str) {
        self.refusals.with(reason, |refusals| refusals.increment(1));
    }

    pub(crate) fn authentication_failed(&self, reason: &'static str) {
        self.authentication_failures.with(reason, |failures| failures.increment(1));
    }
}

impl OperationMeters {
    fn new(operation: &'static str) -> Self {
        Self {
            statuses: Family::new(STATUSES, |(operation, status): (&'static str, u16)| {
                catalog::HTTP_REQUESTS.with([operation, &status.to_string()])
            }),
            duration: catalog::HTTP_REQUEST_DURATION.with([operation]),
            received: catalog::HTTP_RECEIVED.with([operation]),
            sent: catalog::HTTP_SENT.with([operation]),
        }
    }
}
