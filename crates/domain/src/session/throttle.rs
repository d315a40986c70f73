//! Limits failed sign-ins (decision P4, ADR 68). Each process counts for itself.

use crate::access::{CredentialDigest, client_network};
use crate::text::Folded;
use crate::timestamp::Timestamp;
use core::net::IpAddr;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Failures count for this long.
const WINDOW: Duration = Duration::from_mins(1);

/// Failures of one name, and from one address, after which sign-ins are refused.
const MAX_OF_NAME: usize = 5;
const MAX_OF_ADDRESS: usize = 30;

/// Limit for the names, and for the addresses, in memory.
const MAX_KEYS: usize = 16 * 1024;

/// Refuses sign-ins of names and addresses that failed too often within a minute.
#[derive(Default)]
pub struct SignInThrottle(Mutex<State>);

#[derive(Default)]
struct State {
    /// The keys are digests of folded names, since a client may send a long name.
    names: Failures<CredentialDigest>,
    addresses: Failures<IpAddr>,
}

impl SignInThrottle {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins an attempt, which counts as a failure until it is forgiven: attempts that run at the same time can't
    /// exceed the limit.
    ///
    /// # Errors
    /// The time that the client must wait.
    pub fn begin(&self, name: &Folded, address: Option<IpAddr>, now: Timestamp) -> Result<SignInAttempt<'_>, Duration> {
        let (name, address) = (CredentialDigest::of(name.as_str()), address.map(client_network));
        let mut state = self.lock();
        let of_address = address.and_then(|address| state.addresses.wait(&address, MAX_OF_ADDRESS, now));
        if let Some(wait) = state.names.wait(&name, MAX_OF_NAME, now).max(of_address) {
            return Err(wait);
        }
        state.names.add(name, now);
        if let Some(address) = address {
            state.addresses.add(address, now);
        }
        Ok(SignInAttempt { throttle: self, name, address, at: now })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt that counts as a failure unless it is forgiven.
pub struct SignInAttempt<'a> {
    throttle: &'a SignInThrottle,
    name: CredentialDigest,
    address: Option<IpAddr>,
    at: Timestamp,
}

impl SignInAttempt<'_> {
    /// The attempt was no failure of the client.
    pub fn forgive(self) {
        let mut state = self.throttle.lock();
        state.names.remove(&self.name, self.at);
        if let Some(address) = self.address {
            state.addresses.remove(&address, self.at);
        }
    }
}

/// The times of the last failures of each key, the oldest first.
struct Failures<K>(HashMap<K, VecDeque<Timestamp>>);

impl<K> Default for Failures<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash + Copy> Failures<K> {
    /// The time until `key` has fewer than `limit` failures within the window; `None` if it has now.
    fn wait(&mut self, key: &K, limit: usize, now: Timestamp) -> Option<Duration> {
        let times = self.0.get_mut(key)?;
        times.retain(|time| time.plus(WINDOW) > now);
        if times.is_empty() {
            self.0.remove(key);
            return None;
        }
        let decisive = times.iter().rev().nth(limit - 1)?;
        let micros = decisive.plus(WINDOW).as_micros() - now.as_micros();
        // The clock may have been set back: a name waits no longer than the window.
        Some(Duration::from_micros(micros.unsigned_abs()).min(WINDOW))
    }

    fn add(&mut self, key: K, now: Timestamp) {
        if self.0.len() >= MAX_KEYS && !self.0.contains_key(&key) {
            self.make_room(now);
        }
        self.0.entry(key).or_default().push_back(now);
    }

    fn remove(&mut self, key: &K, at: Timestamp) {
        if let Some(times) = self.0.get_mut(key)
            && let Some(place) = times.iter().position(|time| *time == at)
        {
            times.remove(place);
        }
    }

    /// Forgets keys without failures within the window. If that isn't enough, it forgets the half whose last failures are
    /// the oldest.
    fn make_room(&mut self, now: Timestamp) {
        let last = |times: &VecDeque<Timestamp>| times.back().copied().unwrap_or(Timestamp::EPOCH);
        self.0.retain(|_, times| last(times).plus(WINDOW) > now);
        if self.0.len() < MAX_KEYS {
            return;
        }
        let mut lasts: Vec<Timestamp> = self.0.values().map(last).collect();
        let (_, &mut middle, _) = lasts.select_nth_unstable(MAX_KEYS / 2);
        self.0.retain(|_, times| last(times) > middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use core::net::Ipv4Addr;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(0xc000_0200 + number).into()
    }

    /// Decision P4.
    #[test]
    fn five_failures_of_a_name_within_a_minute_are_the_last() {
        let throttle = SignInThrottle::new();
        let ann = Folded::of("Ann");
        for second in [0, 10, 20, 30, 40] {
            throttle.begin(&ann, Some(address(1)), at(second)).unwrap();
        }
        let wait = throttle.begin(&Folded::of("ANN"), Some(address(2)), at(45)).err();
        assert_eq!(wait, Some(Duration::from_secs(15)), "until the first of them is a minute old");
        assert!(throttle.begin(&Folded::of("Bob"), Some(address(1)), at(45)).is_ok(), "another name");
        assert!(throttle.begin(&ann, Some(address(1)), at(60)).is_ok());
        assert_eq!(throttle.begin(&ann, Some(address(1)), at(61)).err(), Some(Duration::from_secs(9)));
    }

    /// Decision P4.
    #[test]
    fn thirty_failures_from_an_address_within_a_minute_are_the_last() {
        let throttle = SignInThrottle::new();
        for number in 0..30 {
            throttle.begin(&Folded::of(&format!("name {number}")), Some(address(1)), at(number)).unwrap();
        }
        let name = Folded::of("another");
        assert_eq!(throttle.begin(&name, Some(address(1)), at(30)).err(), Some(Duration::from_secs(30)));
        assert!(throttle.begin(&name, Some(address(2)), at(30)).is_ok());
        assert!(throttle.begin(&name, None, at(30)).is_ok());
    }

    #[test]
    fn what_is_forgiven_does_not_count_and_what_runs_does() {
        let throttle = SignInThrottle::new();
        let ann = Folded::of("Ann");
        for _ in 0..20 {
            throttle.begin(&ann, Some(address(1)), at(0)).unwrap().forgive();
        }
        let running: Vec<_> = (0..5).map(|_| throttle.begin(&ann, Some(address(1)), at(0)).unwrap()).collect();
        assert!(throttle.begin(&ann, Some(address(1)), at(0)).is_err());
        drop(running);
        assert!(throttle.begin(&ann, Some(address(1)), at(1)).is_err(), "an attempt without an end is a failure");
    }

    #[test]
    fn as_many_names_as_anybody_sends_take_bounded_memory() {
        let throttle = SignInThrottle::new();
        for number in 0..40_000_u32 {
            let name = Folded::of(&format!("name {number}"));
            throttle.begin(&name, Some(address(number)), at(i64::from(number / 1_000))).unwrap();
        }
        let state = throttle.lock();
        assert!(state.names.0.len() <= MAX_KEYS && state.addresses.0.len() <= MAX_KEYS);
        drop(state);
        let last = Folded::of("name 39999");
        for _ in 0..4 {
            throttle.begin(&last, None, at(40)).unwrap();
        }
        assert!(throttle.begin(&last, None, at(40)).is_err(), "the newest are remembered");
    }
}
