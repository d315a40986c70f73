//! The concurrency limit and queue limit of queries (ADR 44).
//!
//! The pool of connections has a queue of its own, but an unbounded one, and it can't tell an overloaded database from
//! one that doesn't answer at all.

use crate::error::unavailable;
use domain::error::StoreError;
use metering::{Counted, GaugeHandle, catalog};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Queries that may wait. Further ones are refused at once.
const MAX_QUEUED: usize = 8192;

/// A concurrency limit with a queue limit and a timeout; first come, first served.
pub(crate) struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
    queue: Semaphore,
    /// Longest wait for a permit.
    timeout: Duration,
    /// How many queries with a permit have succeeded.
    answered: Arc<AtomicU64>,
    queued: GaugeHandle,
}

/// The right to run one query, until it is dropped.
pub(crate) struct Permit {
    _permit: OwnedSemaphorePermit,
    answered: Arc<AtomicU64>,
}

impl Permit {
    /// Counts the query if it succeeded.
    pub(crate) fn record<T, E>(self, outcome: Result<T, E>) -> Result<T, E> {
        if outcome.is_ok() {
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }
}

impl ConcurrencyLimit {
    /// Admits `max` queries at once.
    pub(crate) fn new(max: usize, timeout: Duration) -> Arc<Self> {
        Arc::new(Self {
            permits: Arc::new(Semaphore::new(max)),
            queue: Semaphore::new(MAX_QUEUED),
            timeout,
            answered: Arc::default(),
            queued: catalog::QUEUE_DEPTH.with(["database"]),
        })
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// `Overloaded` where the queue is full, or where the timeout passes while the database answers others;
    /// `Unavailable` where it passes while the database answers no query.
    pub(crate) async fn acquire(&self) -> Result<Permit, StoreError> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(self.permit(permit));
        }
        let _queued = self.queue.try_acquire().map_err(|_| StoreError::Overloaded)?;
        self.wait(self.timeout).await
    }

    /// As [`ConcurrencyLimit::acquire`], whatever else waits: for the next page of a list that has begun.
    pub(crate) async fn acquire_to_continue(&self, timeout: Duration) -> Result<Permit, StoreError> {
        self.wait(timeout).await
    }

    async fn wait(&self, limit: Duration) -> Result<Permit, StoreError> {
        let _counted = Counted::by(&self.queued);
        let before = self.answered.load(Ordering::Relaxed);
        match timeout(limit, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(self.permit(permit)),
            _ if self.answered.load(Ordering::Relaxed) == before => {
                Err(unavailable("no connection to the database became free in time"))
            }
            _ => Err(StoreError::Overloaded),
        }
    }

    fn permit(&self, permit: OwnedSemaphorePermit) -> Permit {
        Permit { _permit: permit, answered: Arc::clone(&self.answered) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const ANSWERED: Result<(), ()> = Ok(());

    fn at_once(limit: &ConcurrencyLimit) -> Option<Permit> {
        limit.acquire().now_or_never().and_then(Result::ok)
    }

    #[tokio::test]
    async fn a_waiting_query_gets_the_permit_that_becomes_free() {
        let limit = ConcurrencyLimit::new(1, Duration::from_mins(1));
        let first = at_once(&limit).unwrap();
        let mut waiting = Box::pin(limit.acquire());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(first);
        assert!(waiting.await.is_ok());
        assert!(at_once(&limit).is_some());
    }

    #[tokio::test]
    async fn a_timeout_says_whether_the_database_answers_others() {
        let limit = ConcurrencyLimit::new(2, Duration::from_millis(10));
        let (mut first, _second) = (at_once(&limit).unwrap(), at_once(&limit).unwrap());
        assert!(matches!(limit.acquire().await, Err(StoreError::Unavailable(_))), "it answers no query");

        let mut waiting = Box::pin(limit.acquire());
        let mut other = Box::pin(limit.acquire());
        assert!(futures_util::poll!(&mut waiting).is_pending() && futures_util::poll!(&mut other).is_pending());
        assert_eq!(first.record(ANSWERED), ANSWERED);
        first = waiting.await.unwrap();
        assert!(matches!(other.await, Err(StoreError::Overloaded)), "it has answered the first");

        let mut waiting = Box::pin(limit.acquire());
        let mut other = Box::pin(limit.acquire());
        assert!(futures_util::poll!(&mut waiting).is_pending() && futures_util::poll!(&mut other).is_pending());
        assert!(first.record(Err::<(), _>("locked")).is_err());
        let _first = waiting.await.unwrap();
        assert!(matches!(other.await, Err(StoreError::Unavailable(_))), "a failure is no answer");
    }

    #[tokio::test]
    async fn the_queue_is_bounded_but_for_a_list_that_has_begun() {
        let limit = ConcurrencyLimit::new(1, Duration::from_mins(1));
        let running = at_once(&limit).unwrap();
        let mut queue: Vec<_> = (0..MAX_QUEUED).map(|_| Box::pin(limit.acquire())).collect();
        for waiting in &mut queue {
            assert!(futures_util::poll!(waiting).is_pending());
        }
        assert!(matches!(limit.acquire().await, Err(StoreError::Overloaded)));
        let mut next_page = Box::pin(limit.acquire_to_continue(Duration::from_mins(1)));
        assert!(futures_util::poll!(&mut next_page).is_pending());
        drop(queue);
        drop(running);
        assert!(next_page.await.is_ok());
    }
}
