//! How often one client may fail to authenticate (ADR 42).

#[cfg(test)]
mod tests;

use super::{CredentialDigest, SentCredentials};
use crate::caller::Caller;
use crate::timestamp::Timestamp;
use core::net::{IpAddr, Ipv6Addr};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Clients whose failures are remembered at once.
const MAX_CLIENTS: usize = 16 * 1024;

/// Valid credentials that are remembered, in each of two generations.
const MAX_VALID: usize = 32 * 1024;

/// Remembers which clients failed to authenticate lately, and which credentials were valid. A client is an address.
/// Credentials that were valid pass, even if other computers with the same address fail.
pub struct Throttle {
    window: Duration,
    /// The time after which one failure expires; zero means that no client has to wait.
    time_per_failure: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failed: HashMap<IpAddr, Failures>,
    valid: HashSet<ValidCredentials>,
    /// The generation before: `valid` replaces it when that is full.
    valid_before: HashSet<ValidCredentials>,
}

/// Credentials and the client from which they were valid. From another client they count as a guess.
type ValidCredentials = (IpAddr, CredentialDigest);

/// The failures of a client that haven't expired.
#[derive(Clone, Copy)]
struct Failures {
    /// When the last of them expires.
    expire_at: Timestamp,
    /// Until when the log needs no further warning about this client.
    warned_until: Option<Timestamp>,
}

impl Throttle {
    /// Lets each client fail `failures` times within the window; 0 for any number.
    #[must_use]
    pub fn new(failures: u32, window: Duration) -> Self {
        let time_per_failure = window.checked_div(failures).unwrap_or_default();
        Self { window, time_per_failure, state: Mutex::default() }
    }

    /// How long the client has to wait before these credentials are looked up; `None` if it doesn't have to wait.
    #[must_use]
    pub fn wait_time(&self, client: IpAddr, sent: &SentCredentials, now: Timestamp) -> Option<Duration> {
        if self.time_per_failure.is_zero() {
            return None;
        }
        let client = network(client);
        let mut state = self.lock();
        let expire_at = state.failed.get(&client)?.expire_at;
        if expire_at <= now {
            state.failed.remove(&client);
            return None;
        }
        // The clock may have been set back: no client waits for longer than the window.
        let wait = self.time_to_next_attempt(expire_at, now)?.min(self.window);
        // A request without credentials is no guess.
        let fingerprint = sent.fingerprint()?;
        (!state.was_valid(&(client, fingerprint))).then_some(wait)
    }

    /// Records the outcome of a lookup; `caller` is `None` if it failed. Only credentials that were sent can fail. A
    /// crash report with a valid `HardwareHash` ignores an invalid `MisKey` (decision A5), which counts as a failure
    /// here. Returns whether to warn that the client has no attempts left: once in a window.
    #[must_use]
    pub fn record(&self, client: IpAddr, sent: &SentCredentials, caller: Option<&Caller>, now: Timestamp) -> bool {
        let Some(fingerprint) = sent.fingerprint().filter(|_| !self.time_per_failure.is_zero()) else {
            return false;
        };
        let [mis_key, hardware_hash] = sent.are_sent();
        let is_valid = caller
            .is_some_and(|caller| (!mis_key || caller.user.is_some()) && (!hardware_hash || caller.computer.is_some()));
        let client = network(client);
        let mut state = self.lock();
        if is_valid {
            state.remember_valid((client, fingerprint));
            return false;
        }
        state.forget_valid(&(client, fingerprint));
        self.add_failure(state.failures(client, now), now)
    }

    /// Returns whether to warn that the client has no attempts left.
    fn add_failure(&self, failures: &mut Failures, now: Timestamp) -> bool {
        // Concurrent lookups may exceed the limit. They count too, up to two windows.
        failures.expire_at = failures.expire_at.clamp(now, now.plus(self.window * 2)).plus(self.time_per_failure);
        let has_to_wait = self.time_to_next_attempt(failures.expire_at, now).is_some();
        let warns = has_to_wait && failures.warned_until.is_none_or(|until| until <= now);
        if warns {
            failures.warned_until = Some(now.plus(self.window));
        }
        warns
    }

    /// The wait for the next attempt if the last failure expires at `expire_at`; `None` if an attempt is left.
    fn time_to_next_attempt(&self, expire_at: Timestamp, now: Timestamp) -> Option<Duration> {
        let full = now.plus(self.window).minus(self.time_per_failure);
        let micros = expire_at.as_micros().saturating_sub(full.as_micros());
        (micros > 0).then(|| Duration::from_micros(micros.unsigned_abs()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn was_valid(&self, credentials: &ValidCredentials) -> bool {
        self.valid.contains(credentials) || self.valid_before.contains(credentials)
    }

    fn remember_valid(&mut self, credentials: ValidCredentials) {
        if self.valid.len() >= MAX_VALID && !self.valid.contains(&credentials) {
            self.valid_before = std::mem::take(&mut self.valid);
        }
        self.valid.insert(credentials);
    }

    fn forget_valid(&mut self, credentials: &ValidCredentials) {
        self.valid.remove(credentials);
        self.valid_before.remove(credentials);
    }

    fn failures(&mut self, client: IpAddr, now: Timestamp) -> &mut Failures {
        if self.failed.len() >= MAX_CLIENTS && !self.failed.contains_key(&client) {
            self.make_room(now);
        }
        self.failed.entry(client).or_insert(Failures { expire_at: now, warned_until: None })
    }

    /// Forgets the clients whose failures have expired. If that isn't enough, it forgets the half with the fewest
    /// failures: an attacker would need thousands of addresses that fail more often than the one to be forgotten.
    fn make_room(&mut self, now: Timestamp) {
        self.failed.retain(|_, failures| failures.expire_at > now);
        if self.failed.len() < MAX_CLIENTS {
            return;
        }
        let mut by_failures: Vec<_> =
            self.failed.iter().map(|(client, failures)| (failures.expire_at, *client)).collect();
        let (_, &mut median, _) = by_failures.select_nth_unstable(MAX_CLIENTS / 2);
        self.failed.retain(|client, failures| (failures.expire_at, *client) > median);
    }
}

/// The unit that counts as one client: an IPv4 address, or a network of 64 bits in IPv6.
#[must_use]
pub fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}
