//! Handles for a few keys, each looked up at its first use.

use std::fmt;
use std::sync::OnceLock;

/// Handles by what they are for: an operation, a status, a reason. Reading takes no lock; the keys are
/// few, so that comparing them one by one is cheaper than hashing.
pub struct Family<K, V> {
    slots: Box<[OnceLock<(K, V)>]>,
    make: fn(K) -> V,
}

impl<K: Copy + PartialEq, V> Family<K, V> {
    /// Room for `size` keys; what `make` gives is kept for each. Keys beyond are looked up each time.
    #[must_use]
    pub fn new(size: usize, make: fn(K) -> V) -> Self {
        Self { slots: (0..size).map(|_| OnceLock::new()).collect(), make }
    }

    /// Hands over what is kept for `key`.
    pub fn with<R>(&self, key: K, hand_over: impl FnOnce(&V) -> R) -> R {
        // The first empty slot becomes the key's own, unless another thread is quicker.
        let mut slots = self.slots.iter().map(|slot| slot.get_or_init(|| (key, (self.make)(key))));
        match slots.find(|(owner, _)| *owner == key) {
            Some((_, kept)) => hand_over(kept),
            None => hand_over(&(self.make)(key)),
        }
    }
}

impl<K, V> fmt::Debug for Family<K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Family").field("size", &self.slots.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_a_key_has_is_made_once_and_kept() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let family = Family::new(2, |key: u16| {
            MADE.fetch_add(1, Ordering::SeqCst);
            key * 10
        });
        for _ in 0..3 {
            assert_eq!(family.with(1, |kept| *kept), 10);
            assert_eq!(family.with(2, |kept| *kept), 20);
        }
        assert_eq!(MADE.load(Ordering::SeqCst), 2);
        assert_eq!(family.with(3, |kept| *kept), 30, "a key beyond the room is served too");
    }

    #[test]
    fn threads_at_once_agree_on_the_slots() {
        let family = Family::new(8, |key: usize| key);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..8).for_each(|key| assert_eq!(family.with(key, |kept| *kept), key)));
            }
        });
    }
}
