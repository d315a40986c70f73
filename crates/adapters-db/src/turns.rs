//! Turns at the connections of a pool, and the line of those that wait for theirs (ADR 44).
//!
//! The pool has a line of its own, but one without bounds, and which can't tell a database that answers others from one
//! that answers nobody.

use crate::error::unavailable;
use domain::error::StoreError;
use metering::{Counted, GaugeHandle, catalog};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Requests that may wait; who comes when they do is sent away at once.
const LINE: usize = 8192;

/// The turns, first come, first served.
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    line: Arc<Semaphore>,
    /// Longest wait for a turn.
    patience: Duration,
    /// How often the database has answered.
    answers: Arc<AtomicU64>,
    in_line: GaugeHandle,
}

/// A turn, until it is dropped.
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
    answers: Arc<AtomicU64>,
}

impl Turn {
    /// Takes note of whether the database has answered.
    pub(crate) fn ends<T, E>(self, outcome: Result<T, E>) -> Result<T, E> {
        if outcome.is_ok() {
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }
}

impl Turns {
    /// So many at a time.
    pub(crate) fn new(places: usize, patience: Duration) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(places));
        let line = Arc::new(Semaphore::new(LINE));
        let in_line = catalog::QUEUE_DEPTH.with(["database_line"]);
        Arc::new(Self { free, line, patience, answers: Arc::default(), in_line })
    }

    /// A turn: at once where there is one, or after a bounded wait in a bounded line. Who waits in vain learns whether
    /// the database has answered others meanwhile: then there is too much for it, else it is away.
    pub(crate) async fn take(&self) -> Result<Turn, StoreError> {
        if let Ok(permit) = self.free.clone().try_acquire_owned() {
            return Ok(self.turn(permit));
        }
        let Ok(_place) = self.line.clone().try_acquire_owned() else {
            return Err(StoreError::Overloaded);
        };
        self.wait(self.patience).await
    }

    /// A turn for what was begun already and would be broken off without: it waits for as long as it is given, whatever
    /// else waits.
    pub(crate) async fn take_further(&self, patience: Duration) -> Result<Turn, StoreError> {
        self.wait(patience).await
    }

    async fn wait(&self, patience: Duration) -> Result<Turn, StoreError> {
        let _counted = Counted::by(&self.in_line);
        let before = self.answers.load(Ordering::Relaxed);
        match timeout(patience, self.free.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(self.turn(permit)),
            _ if self.answers.load(Ordering::Relaxed) == before => {
                Err(unavailable("no connection to the database became free in time"))
            }
            _ => Err(StoreError::Overloaded),
        }
    }

    fn turn(&self, permit: OwnedSemaphorePermit) -> Turn {
        Turn { _permit: permit, answers: Arc::clone(&self.answers) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const ANSWER: Result<(), ()> = Ok(());

    fn at_once(turns: &Turns) -> Option<Turn> {
        turns.take().now_or_never().and_then(Result::ok)
    }

    #[tokio::test]
    async fn who_waits_gets_the_turn_that_becomes_free() {
        let turns = Turns::new(1, Duration::from_mins(1));
        let first = at_once(&turns).unwrap();
        let mut waiting = Box::pin(turns.take());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(first);
        assert!(waiting.await.is_ok());
        assert!(at_once(&turns).is_some());
    }

    #[tokio::test]
    async fn who_waits_in_vain_learns_whether_the_database_answers() {
        let turns = Turns::new(2, Duration::from_millis(10));
        let (mut first, _second) = (at_once(&turns).unwrap(), at_once(&turns).unwrap());
        assert!(matches!(turns.take().await, Err(StoreError::Unavailable(_))), "it answers nobody");

        let mut waiting = Box::pin(turns.take());
        let mut other = Box::pin(turns.take());
        assert!(futures_util::poll!(&mut waiting).is_pending() && futures_util::poll!(&mut other).is_pending());
        assert_eq!(first.ends(ANSWER), ANSWER);
        first = waiting.await.unwrap();
        assert!(matches!(other.await, Err(StoreError::Overloaded)), "it has answered the first");

        let mut waiting = Box::pin(turns.take());
        let mut other = Box::pin(turns.take());
        assert!(futures_util::poll!(&mut waiting).is_pending() && futures_util::poll!(&mut other).is_pending());
        assert!(first.ends(Err::<(), _>("locked")).is_err());
        let _first = waiting.await.unwrap();
        assert!(matches!(other.await, Err(StoreError::Unavailable(_))), "a failure is no answer");
    }

    #[tokio::test]
    async fn the_line_is_bounded_but_for_what_was_begun() {
        let turns = Turns::new(1, Duration::from_mins(1));
        let running = at_once(&turns).unwrap();
        let mut line: Vec<_> = (0..LINE).map(|_| Box::pin(turns.take())).collect();
        for waiting in &mut line {
            assert!(futures_util::poll!(waiting).is_pending());
        }
        assert!(matches!(turns.take().await, Err(StoreError::Overloaded)));
        let mut further = Box::pin(turns.take_further(Duration::from_mins(1)));
        assert!(futures_util::poll!(&mut further).is_pending());
        drop(line);
        drop(running);
        assert!(further.await.is_ok());
    }
}
