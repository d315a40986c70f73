//! Since when nothing was written although something waits.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Progress(Mutex<Option<Instant>>);

impl Progress {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Something is to be written. Where nothing was for a while, that while goes on.
    pub(super) fn begin(&self) {
        self.since().get_or_insert_with(Instant::now);
    }

    /// The database has answered, or nothing waits any more.
    pub(super) fn rest(&self) {
        *self.since() = None;
    }

    pub(super) fn stands_for(&self) -> Duration {
        self.since().map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
