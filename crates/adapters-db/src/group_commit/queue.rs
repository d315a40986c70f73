//! Room for the records that wait to be written, in records and in bytes (ADR 28).

use domain::error::StoreError;
use metering::{Counted, GaugeHandle, catalog};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Records that wait or are being written at a time.
const PLACES: usize = 1024;

/// Bytes of their texts.
const BYTES: usize = 16 * 1024 * 1024;

/// What a record takes of the bytes at least: whoever bounds the bytes bounds the records too. A larger
/// one than all of them takes all.
const LEAST: usize = BYTES / PLACES;

/// Bytes of the records that wait for a place, counted likewise: who comes to a line of that length is
/// sent away at once.
const LINE: usize = 4 * BYTES;

/// The room, first come, first served.
pub(super) struct Queue {
    room: Arc<Semaphore>,
    line: Arc<Semaphore>,
    /// Longest wait for a place.
    patience: Duration,
    waiting: GaugeHandle,
    in_line: GaugeHandle,
}

/// A place in the queue, until it is dropped.
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    _counted: Counted,
}

impl Place {
    fn new(permit: OwnedSemaphorePermit, depth: &GaugeHandle) -> Self {
        Self { _permit: permit, _counted: Counted::by(depth) }
    }
}

impl Queue {
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            room: Arc::new(Semaphore::new(BYTES)),
            line: Arc::new(Semaphore::new(LINE)),
            patience,
            waiting: catalog::QUEUE_DEPTH.with(["commit"]),
            in_line: catalog::QUEUE_DEPTH.with(["commit_line"]),
        }
    }

    /// A place for a record whose texts have `bytes`: at once where there is room.
    pub(super) async fn place(&self, bytes: usize) -> Result<Place, StoreError> {
        let charge = u32::try_from(bytes.clamp(LEAST, BYTES)).unwrap_or(u32::MAX);
        if let Ok(permit) = self.room.clone().try_acquire_many_owned(charge) {
            return Ok(Place::new(permit, &self.waiting));
        }
        let Ok(in_line) = self.line.clone().try_acquire_many_owned(charge) else {
            return Err(StoreError::Overloaded);
        };
        let _in_line = Place::new(in_line, &self.in_line);
        match timeout(self.patience, self.room.clone().acquire_many_owned(charge)).await {
            Ok(Ok(permit)) => Ok(Place::new(permit, &self.waiting)),
            _ => Err(StoreError::Overloaded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn at_once(queue: &Queue, bytes: usize) -> Option<Place> {
        queue.place(bytes).now_or_never().map(|place| place.unwrap())
    }

    #[tokio::test]
    async fn the_room_is_bounded_in_records_and_in_bytes() {
        let queue = Queue::new(Duration::ZERO);
        let places: Vec<Place> = (0..PLACES).map(|_| at_once(&queue, 1).unwrap()).collect();
        assert!(at_once(&queue, 1).is_none());
        drop(places);
        let all = at_once(&queue, usize::MAX).unwrap();
        assert!(at_once(&queue, 1).is_none());
        drop(all);
        assert!(at_once(&queue, 1).is_some());
    }

    #[tokio::test]
    async fn who_finds_no_room_waits_and_is_sent_away_in_the_end() {
        let queue = Queue::new(Duration::from_millis(10));
        let all = at_once(&queue, BYTES).unwrap();
        assert!(matches!(queue.place(1).await, Err(StoreError::Overloaded)));
        // Who waits gets the place that becomes free.
        let patient = Queue { patience: Duration::from_mins(1), ..queue };
        let mut waiting = Box::pin(patient.place(1));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(all);
        assert!(waiting.await.is_ok());
    }

    #[tokio::test]
    async fn the_line_is_bounded_too() {
        let queue = Queue::new(Duration::from_mins(1));
        let _all = at_once(&queue, BYTES).unwrap();
        let mut line: Vec<_> = (0..LINE / BYTES).map(|_| Box::pin(queue.place(BYTES))).collect();
        for waiting in &mut line {
            assert!(futures_util::poll!(waiting).is_pending());
        }
        assert!(matches!(queue.place(1).await, Err(StoreError::Overloaded)));
        drop(line);
        assert!(queue.place(1).now_or_never().is_none(), "there is room in the line again");
    }
}
