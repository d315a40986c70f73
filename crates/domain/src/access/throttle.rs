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

/// Sets of credentials of each of two generations that are remembered as valid.
const MAX_ADMITTED: usize = 32 * 1024;

/// Remembers which addresses failed, and which credentials were valid there lately: these pass, even if other clients
/// with the same address fail.
pub struct Throttle {
    window: Duration,
    /// The time after which one failure is forgiven; zero means that no client is refused.
    step: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    clients: HashMap<IpAddr, Failures>,
    admitted: HashSet<Admitted>,
    admitted_before: HashSet<Admitted>,
}

/// Credentials and the client from which they were valid. From another client they count as a guess.
type Admitted = (IpAddr, CredentialDigest);

/// What is remembered of a client that failed.
#[derive(Clone, Copy)]
struct Failures {
    /// When all its failures are forgiven.
    clear: Timestamp,
    /// Until when the log needs no further warning about this client.
    output: Option<Timestamp>,
}

impl Throttle {
    /// Lets each client fail so often within the window; 0 for any number.
    #[must_use]
    pub fn new(failures: u32, window: Duration) -> Self {
        Self { window, step: window.checked_div(failures).unwrap_or_default(), state: Mutex::default() }
    }

    /// How long the client has to wait until these credentials are looked up; `None` if they are at once.
    #[must_use]
    pub fn wait(&self, client: IpAddr, sent: &SentCredentials, now: Timestamp) -> Option<Duration> {
        if self.step.is_zero() {
            return None;
        }
        let client = network(client);
        let mut state = self.lock();
        let clear = state.clients.get(&client)?.clear;
        if clear <= now {
            state.clients.remove(&client);
            return None;
        }
        // The clock may have been set back: no client waits for longer than the window.
        let wait = self.wait_until(clear, now)?.min(self.window);
        // A request without credentials is no guess.
        let fingerprint = sent.fingerprint()?;
        (!state.is_admitted(&(client, fingerprint))).then_some(wait)
    }

    /// Records the outcome of a lookup; `caller` is `None` if it failed. Only credentials that were sent can fail. A
    /// crash report with a valid `HardwareHash` ignores an invalid `MisKey` (decision A5), which counts as a failure
    /// here. Returns whether to warn that the client has no attempts left: once in a window.
    #[must_use]
    pub fn note(&self, client: IpAddr, sent: &SentCredentials, caller: Option<&Caller>, now: Timestamp) -> bool {
        let Some(fingerprint) = sent.fingerprint().filter(|_| !self.step.is_zero()) else {
            return false;
        };
        let [mis_key, hardware_hash] = sent.are_there();
        let is_valid = caller
            .is_some_and(|caller| (!mis_key || caller.user.is_some()) && (!hardware_hash || caller.computer.is_some()));
        let client = network(client);
        let mut state = self.lock();
        if is_valid {
            state.admit((client, fingerprint));
            return false;
        }
        state.forget(&(client, fingerprint));
        self.count(state.failures(client, now), now)
    }

    fn count(&self, failures: &mut Failures, now: Timestamp) -> bool {
        // Concurrent lookups may exceed the limit. They count too, up to two windows.
        failures.clear = failures.clear.clamp(now, now.plus(self.window * 2)).plus(self.step);
        let is_used_up = self.wait_until(failures.clear, now).is_some();
        let is_news = is_used_up && failures.output.is_none_or(|output| output <= now);
        if is_news {
            failures.output = Some(now.plus(self.window));
        }
        is_news
    }

    /// How long a client whose failures are forgiven at `clear` waits for its next attempt.
    fn wait_until(&self, clear: Timestamp, now: Timestamp) -> Option<Duration> {
        let free = now.plus(self.window).minus(self.step);
        let micros = clear.as_micros().saturating_sub(free.as_micros());
        (micros > 0).then(|| Duration::from_micros(micros.unsigned_abs()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_admitted(&self, credentials: &Admitted) -> bool {
        self.admitted.contains(credentials) || self.admitted_before.contains(credentials)
    }

    fn admit(&mut self, credentials: Admitted) {
        if self.admitted.len() >= MAX_ADMITTED && !self.admitted.contains(&credentials) {
            self.admitted_before = std::mem::take(&mut self.admitted);
        }
        self.admitted.insert(credentials);
    }

    fn forget(&mut self, credentials: &Admitted) {
        self.admitted.remove(credentials);
        self.admitted_before.remove(credentials);
    }

    fn failures(&mut self, client: IpAddr, now: Timestamp) -> &mut Failures {
        if self.clients.len() >= MAX_CLIENTS && !self.clients.contains_key(&client) {
            self.make_room(now);
        }
        self.clients.entry(client).or_insert(Failures { clear: now, output: None })
    }

    /// Forgets the clients whose failures are forgiven. If that isn't enough, it forgets the half with the fewest
    /// failures: an attacker would need thousands of addresses that fail more often than the one to be forgotten.
    fn make_room(&mut self, now: Timestamp) {
        self.clients.retain(|_, failures| failures.clear > now);
        if self.clients.len() < MAX_CLIENTS {
            return;
        }
        let mut ranks: Vec<_> = self.clients.iter().map(|(client, failures)| (failures.clear, *client)).collect();
        let (_, &mut middle, _) = ranks.select_nth_unstable(MAX_CLIENTS / 2);
        self.clients.retain(|client, failures| (failures.clear, *client) > middle);
    }
}

/// The unit that counts as one client: an IPv4 address, or a network of 64 bits in IPv6.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}
