//! Stores last requests and fetches in the background. No request waits for this or fails because of it.

use domain::activity::{ActivityRecorder, ActivityRepository};
use domain::error::error_chain;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Time between two writes. A killed process may lose the last 10 seconds (decision I8).
const INTERVAL: Duration = Duration::from_secs(5);

/// Timeout of the last write when the process ends.
const LAST_WRITE_TIMEOUT: Duration = Duration::from_secs(3);

/// Stores the collected requests and fetches periodically.
pub(crate) async fn run(recorder: Arc<ActivityRecorder>, activity: Arc<dyn ActivityRepository>) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        store(&recorder, &*activity).await;
    }
}

/// Stores the rest after the task of [`run`] was stopped.
pub(crate) async fn finish(recorder: &ActivityRecorder, activity: &dyn ActivityRepository) {
    if timeout(LAST_WRITE_TIMEOUT, store(recorder, activity)).await.is_err() {
        tracing::warn!("the last requests of computers and users are not stored");
    }
}

async fn store(recorder: &ActivityRecorder, activity: &dyn ActivityRepository) {
    if let Err(error) = recorder.store(activity).await {
        tracing::warn!(error = error_chain(&error), "cannot store the last requests of computers and users");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::caller::{Caller, CallingComputer, OrganizationId};
    use domain::fleet::FleetRegistry;
    use domain::inspection::InspectionRepository;
    use domain::testing::{InMemoryStore, a_caller, a_fleet, acme_records, at};
    use futures_util::TryStreamExt;

    async fn last_seen(store: &InMemoryStore, acme: OrganizationId) -> Option<domain::timestamp::Timestamp> {
        let computers: Vec<_> = store.computers(acme).try_collect().await.unwrap();
        computers[0].last_request.as_ref().map(|request| request.at)
    }

    #[tokio::test(start_paused = true)]
    async fn requests_are_stored_within_ten_seconds_and_at_the_end() {
        // Decision I8.
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let acme = store.organizations(Some("Acme Print".to_owned())).await.unwrap()[0].id;
        let computer = CallingComputer { guid: acme_records().computer, name: "RIP-01".to_owned(), user: None };
        let caller = Caller { computer: Some(computer), ..a_caller(acme) };
        let recorder = Arc::new(ActivityRecorder::default());
        let task = tokio::spawn(run(Arc::clone(&recorder), Arc::new(store.clone())));
        recorder.admitted(&caller, None, at(1));
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(last_seen(&store, acme).await, Some(at(1)));
        store.set_failing(true);
        recorder.admitted(&caller, None, at(2));
        tokio::time::sleep(INTERVAL * 2).await;
        store.set_failing(false);
        task.abort();
        finish(&recorder, &store).await;
        assert_eq!(last_seen(&store, acme).await, Some(at(2)), "what could not be stored was kept");
    }
}
