//! Time and identifiers that a test steers.

use super::builders::{at, numbered};
use crate::clock::{Clock, IdSource};
use crate::timestamp::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// A clock that stands still until it is moved. Clones show the same time.
#[derive(Debug, Clone)]
pub struct FixedClock {
    micros: Arc<AtomicI64>,
    step: i64,
}

impl FixedClock {
    /// Stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { micros: Arc::new(AtomicI64::new(now.as_micros())), step: 0 }
    }

    /// Moves on by `step` after each look, so that no two looks see the same time.
    #[must_use]
    pub fn stepping(now: Timestamp, step: Duration) -> Self {
        let step = Timestamp::from_micros(0).plus(step).as_micros();
        Self { step, ..Self::new(now) }
    }

    /// Moves the clock to `now`, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        self.micros.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Moves the clock forwards.
    pub fn advance(&self, by: Duration) {
        let by = Timestamp::from_micros(0).plus(by).as_micros();
        self.micros.fetch_add(by, Ordering::SeqCst);
    }
}

impl Default for FixedClock {
    /// Stands at the moment that the builders count from.
    fn default() -> Self {
        Self::new(at(0))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.fetch_add(self.step, Ordering::SeqCst))
    }
}

/// Identifiers that count up from 1. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct CountingIds(Arc<AtomicU64>);

impl CountingIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

impl IdSource for CountingIds {
    fn guid(&self) -> Uuid {
        numbered(self.next().into())
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        secret[24..].copy_from_slice(&self.next().to_be_bytes());
        secret
    }
}
