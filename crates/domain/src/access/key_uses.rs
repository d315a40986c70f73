//! When keys were used. Requests note it in memory; a background task stores it.

use super::CredentialDigest;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::fleet::KeyRegistry;
use crate::timestamp::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The last uses of valid keys that aren't stored yet.
pub struct KeyUses {
    clock: Arc<dyn Clock>,
    last: Mutex<HashMap<CredentialDigest, Timestamp>>,
}

impl KeyUses {
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: Mutex::default() }
    }

    /// Notes that a valid key is used now.
    pub(super) fn note(&self, key: CredentialDigest) {
        let now = self.clock.now();
        self.lock().insert(key, now);
    }

    /// Stores the uses since the last call.
    ///
    /// # Errors
    /// What can't be stored is kept for the next call.
    pub async fn store(&self, keys: &dyn KeyRegistry) -> Result<(), StoreError> {
        let uses: Vec<_> = self.lock().drain().collect();
        if uses.is_empty() {
            return Ok(());
        }
        let stored = keys.note_uses(&uses).await;
        if stored.is_err() {
            let mut last = self.lock();
            for (key, when) in uses {
                last.entry(key).or_insert(when);
            }
        }
        stored
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CredentialDigest, Timestamp>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::MockKeyRegistry;
    use crate::testing::{FixedClock, at};

    fn stores(expected: Vec<(CredentialDigest, Timestamp)>, works: bool) -> MockKeyRegistry {
        let mut keys = MockKeyRegistry::new();
        let is_it = move |uses: &[(CredentialDigest, Timestamp)]| uses == expected;
        let answer = move |_: &[(CredentialDigest, Timestamp)]| {
            if works { Ok(()) } else { Err(StoreError::unavailable("no route")) }
        };
        keys.expect_note_uses().times(1).withf(is_it).returning(answer);
        keys
    }

    #[tokio::test]
    async fn the_last_use_of_a_key_is_stored_once() {
        let uses = KeyUses::new(Arc::new(FixedClock::new(at(5))));
        let key = CredentialDigest::of("a key");
        uses.note(key);
        uses.note(key);
        uses.store(&stores(vec![(key, at(5))], true)).await.unwrap();
        uses.store(&MockKeyRegistry::new()).await.unwrap();
    }

    #[tokio::test]
    async fn a_use_that_can_not_be_stored_is_kept() {
        let uses = KeyUses::new(Arc::new(FixedClock::new(at(5))));
        let key = CredentialDigest::of("a key");
        uses.note(key);
        uses.store(&stores(vec![(key, at(5))], false)).await.unwrap_err();
        uses.store(&stores(vec![(key, at(5))], true)).await.unwrap();
    }
}
