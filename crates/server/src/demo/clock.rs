//! A clock that is set, and GUIDs that follow from a seed.

use crate::system::RandomIds;
use domain::clock::{Clock, IdSource};
use domain::timestamp::Timestamp;
use fastrand::Rng;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use uuid::{Builder, Uuid};

/// Shows the time that it was set to.
pub(super) struct StoryClock(AtomicI64);

impl StoryClock {
    pub(super) fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_micros()))
    }

    pub(super) fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for StoryClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// GUIDs of a seed; secrets are random, since a database with a demo may be reached by others.
pub(super) struct SeededIds(Mutex<Rng>);

impl SeededIds {
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(Rng::with_seed(seed)))
    }
}

impl IdSource for SeededIds {
    fn guid(&self) -> Uuid {
        guid(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn secret(&self) -> [u8; 32] {
        RandomIds.secret()
    }
}

/// The next GUID.
pub(super) fn guid(rng: &mut Rng) -> Uuid {
    Builder::from_random_bytes(rng.u128(..).to_be_bytes()).into_uuid()
}
