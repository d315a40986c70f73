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
    /// How far one failure moves a client; none is ever refused where it is zero.
    step: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    clients: HashMap<IpAddr, Failures>,
    admitted: HashSet<Admitted>,
    admitted_before: HashSet<Admitted>,
}

/// Credentials and the client from which they were valid: from another they are a guess like any.
type Admitted = (IpAddr, CredentialDigest);

/// What is remembered of a client that failed.
#[derive(Clone, Copy)]
struct Failures {
    /// When it has made up for all of them.
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
        // What isn't there can't be guessed.
        let fingerprint = sent.fingerprint()?;
        (!state.is_admitted(&(client, fingerprint))).then_some(wait)
    }

    /// Takes note of what came of a look-up: `caller`, or nobody. Only credentials that were sent can fail; the crash
    /// report passes over an invalid `MisKey` beside a valid `HardwareHash` (decision A5), which is counted all the same.
    /// Returns whether to warn that the client has no attempts left: once in a window.
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
        // Look-ups that were under way together may exceed the bound; the client makes up for those too, within reason.
        failures.clear = failures.clear.clamp(now, now.plus(self.window * 2)).plus(self.step);
        let is_used_up = self.wait_until(failures.clear, now).is_some();
        let is_news = is_used_up && failures.output.is_none_or(|output| output <= now);
        if is_news {
            failures.output = Some(now.plus(self.window));
        }
        is_news
    }

    /// The wait of a client that has made up for its failures at `clear`, until one more is free.
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

    /// Forgets those who have made up for their failures, and where that isn't enough, the half that has failed least:
    /// who wants to be forgotten needs thousands of addresses that fail as often as he does.
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

/// What is counted as one client: an address, or the network of 64 bits that one has in IPv6.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}
