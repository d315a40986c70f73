//! Collects last requests and fetches in memory until a background task stores them. No request waits for the database.

use super::{ActivityRepository, Fetch, Holder, LastRequest, ResourceKey, Sender};
use crate::caller::Caller;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limit for the senders, and for the fetches, that are collected between two writes. Further new ones are dropped.
const MAX_PENDING: usize = 50_000;

/// The last requests and fetches that aren't stored yet.
pub struct ActivityRecorder {
    requests: PendingValues<Sender, LastRequest>,
    fetches: PendingValues<(Holder, ResourceKey), Fetch>,
}

impl Default for ActivityRecorder {
    fn default() -> Self {
        Self::with_bound(MAX_PENDING)
    }
}

impl ActivityRecorder {
    fn with_bound(bound: usize) -> Self {
        Self { requests: PendingValues::new(bound), fetches: PendingValues::new(bound) }
    }

    /// Records that a request of this caller was admitted (decision I8).
    pub fn admitted(&self, caller: &Caller, address: Option<String>, at: Timestamp) {
        let request = LastRequest::of(caller, address, at);
        for sender in Sender::of(caller) {
            self.requests.put(sender, request.clone());
        }
    }

    /// Records that this caller has this content of a resource now (decision I9).
    pub fn fetched(&self, caller: &Caller, resource: ResourceKey, fetch: Fetch) {
        if let Some(holder) = Holder::of(caller) {
            self.fetches.put((holder, resource), fetch);
        }
    }

    /// Stores the requests and fetches that were collected since the last call.
    ///
    /// # Errors
    /// A store failure; the next call stores the same values again.
    pub async fn store(&self, repository: &dyn ActivityRepository) -> Result<(), StoreError> {
        let requests = self.requests.take();
        let stored =
            if requests.values.is_empty() { Ok(()) } else { repository.store_requests(&requests.values).await };
        let requests = requests.end(stored);
        let fetches = self.fetches.take();
        let stored = if fetches.values.is_empty() { Ok(()) } else { repository.store_fetches(&fetches.values).await };
        requests.and(fetches.end(stored))
    }
}

/// The last value of each key, for at most `bound` keys.
struct PendingValues<K, V> {
    bound: usize,
    last: Mutex<HashMap<K, V>>,
}

impl<K: Eq + Hash, V> PendingValues<K, V> {
    fn new(bound: usize) -> Self {
        Self { bound, last: Mutex::default() }
    }

    fn put(&self, key: K, value: V) {
        let mut last = self.lock();
        if last.len() < self.bound || last.contains_key(&key) {
            last.insert(key, value);
        }
    }

    fn take(&self) -> ValuesInWrite<'_, K, V> {
        ValuesInWrite { from: self, values: self.lock().drain().collect() }
    }

    /// Puts values back. Values that were recorded in the meantime win.
    fn put_back(&self, values: Vec<(K, V)>) {
        let mut last = self.lock();
        for (key, value) in values {
            if last.len() >= self.bound {
                break;
            }
            last.entry(key).or_insert(value);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values of a running write. `Drop` puts them back if the write failed or its task was aborted.
struct ValuesInWrite<'a, K: Eq + Hash, V> {
    from: &'a PendingValues<K, V>,
    values: Vec<(K, V)>,
}

impl<K: Eq + Hash, V> ValuesInWrite<'_, K, V> {
    fn end(mut self, stored: Result<(), StoreError>) -> Result<(), StoreError> {
        if stored.is_ok() {
            self.values.clear();
        }
        stored
    }
}

impl<K: Eq + Hash, V> Drop for ValuesInWrite<'_, K, V> {
    fn drop(&mut self) {
        self.from.put_back(std::mem::take(&mut self.values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::MockActivityRepository;
    use crate::caller::{CallingComputer, OrganizationId};
    use crate::checksum::Sha1Checksum;
    use crate::testing::{a_caller, acme_records, at, resource_guid};

    const ACME: OrganizationId = OrganizationId(1);

    fn at_computer() -> Caller {
        let computer = CallingComputer { guid: acme_records().computer, name: "RIP-01".to_owned(), user: None };
        Caller { computer: Some(computer), ..a_caller(ACME) }
    }

    fn key() -> ResourceKey {
        ResourceKey { organization: ACME, guid: resource_guid(1) }
    }

    #[tokio::test]
    async fn the_last_request_of_computer_and_user_is_stored_once() {
        // Decision I8.
        let recorder = ActivityRecorder::default();
        recorder.admitted(&at_computer(), None, at(1));
        recorder.admitted(&at_computer(), Some("192.0.2.1".to_owned()), at(2));
        let mut repository = MockActivityRepository::new();
        repository.expect_store_requests().once().returning(|requests| {
            let mut requests = requests.to_vec();
            requests.sort_by(|(one, _), (other, _)| one.cmp(other));
            let senders: Vec<Sender> = requests.iter().map(|(sender, _)| sender.clone()).collect();
            assert_eq!(
                senders,
                [Sender::Computer(ACME, acme_records().computer), Sender::User(ACME, "Ann".to_owned())]
            );
            let last = LastRequest {
                at: at(2),
                address: Some("192.0.2.1".to_owned()),
                serial_number: "SN-1000".to_owned(),
                application_version: "9.0".to_owned(),
            };
            assert!(requests.iter().all(|(_, request)| *request == last), "{requests:?}");
            Ok(())
        });
        recorder.store(&repository).await.unwrap();
        recorder.store(&MockActivityRepository::new()).await.unwrap();
    }

    #[tokio::test]
    async fn a_fetch_belongs_to_the_computer_else_to_user_and_serial_number() {
        // Decision I9.
        let (recorder, fetch) = (ActivityRecorder::default(), Fetch { checksum: Sha1Checksum::of(b"1"), at: at(1) });
        recorder.fetched(&at_computer(), key(), fetch);
        recorder.fetched(&a_caller(ACME), key(), fetch);
        let mut repository = MockActivityRepository::new();
        repository.expect_store_fetches().once().returning(move |fetches| {
            let mut holders: Vec<Holder> = fetches.iter().map(|((holder, _), _)| holder.clone()).collect();
            holders.sort();
            let user = Holder::User { organization: ACME, name: "Ann".to_owned(), serial_number: "SN-1000".to_owned() };
            assert_eq!(holders, [Holder::Computer(ACME, acme_records().computer), user]);
            Ok(())
        });
        recorder.store(&repository).await.unwrap();
    }

    #[tokio::test]
    async fn what_can_not_be_stored_is_kept_and_memory_is_bounded() {
        let recorder = ActivityRecorder::with_bound(3);
        let caller = |number: i64| Caller { user: Some(format!("User {number}")), ..a_caller(ACME) };
        for number in 0..9 {
            recorder.admitted(&caller(number), None, at(number));
        }
        let mut repository = MockActivityRepository::new();
        repository.expect_store_requests().once().returning(|_| Err(StoreError::unavailable("no route")));
        recorder.store(&repository).await.unwrap_err();
        recorder.admitted(&caller(0), None, at(20));
        recorder.admitted(&caller(9), None, at(20));
        let mut repository = MockActivityRepository::new();
        repository.expect_store_requests().once().returning(|requests| {
            let times: Vec<_> = requests.iter().map(|(_, request)| request.at).collect();
            assert!(times.len() == 3 && times.contains(&at(20)) && times.contains(&at(2)), "{times:?}");
            Ok(())
        });
        recorder.store(&repository).await.unwrap();
    }
}
