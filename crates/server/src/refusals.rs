//! Records refusals in the database in the background. No request waits for it or fails because of it.

use domain::clock::Clock;
use domain::error::error_chain;
use domain::refusal::{KEPT_FOR, NewRefusal, RefusalRepository, RefusalSampler};
use http_actix::RefusalSink;
use metering::{CounterHandle, catalog};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout, timeout_at};

/// Most refusals in the queue; beyond them new ones are dropped.
const MAX_QUEUED: usize = 1_000;

/// Time that a batch gathers refusals before it is written.
const BATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two removals of old refusals, and how many each statement removes.
const PRUNE_INTERVAL: Duration = Duration::from_mins(10);
const PRUNE_BATCH: u64 = 1_000;

/// Longest wait for the last batch when the process ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Takes refusals from the threads that serve.
pub(crate) struct RefusalRecorder {
    sender: mpsc::Sender<NewRefusal>,
    dropped: CounterHandle,
}

impl RefusalSink for RefusalRecorder {
    fn record(&self, refusal: NewRefusal) {
        if self.sender.try_send(refusal).is_err() {
            self.dropped.increment(1);
        }
    }
}

/// The handle of the task that writes refusals.
pub(crate) struct RefusalWriter {
    finish: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Starts the task that writes refusals to `refusals`.
pub(crate) fn start(refusals: Arc<dyn RefusalRepository>) -> (RefusalRecorder, RefusalWriter) {
    let dropped = catalog::REFUSAL_RECORDS.with(["dropped"]);
    let (sender, receiver) = mpsc::channel(MAX_QUEUED);
    let (finish, finished) = oneshot::channel();
    let writing =
        BatchWriter { receiver, refusals, kept: catalog::REFUSAL_RECORDS.with(["kept"]), dropped: dropped.clone() };
    let task = tokio::spawn(writing.run(finished));
    (RefusalRecorder { sender, dropped }, RefusalWriter { finish, task })
}

impl RefusalWriter {
    /// Writes the queued refusals, and ends the task within [`SHUTDOWN_TIMEOUT`].
    pub(crate) async fn finish(self) {
        // If the receiver is gone, the task has ended.
        let _ = self.finish.send(());
        if timeout(SHUTDOWN_TIMEOUT, self.task).await.is_err() {
            tracing::warn!("the last refusals are not recorded");
        }
    }
}

struct BatchWriter {
    receiver: mpsc::Receiver<NewRefusal>,
    refusals: Arc<dyn RefusalRepository>,
    kept: CounterHandle,
    dropped: CounterHandle,
}

impl BatchWriter {
    async fn run(mut self, mut finished: oneshot::Receiver<()>) {
        let mut sampler = RefusalSampler::default();
        loop {
            let first = tokio::select! {
                refusal = self.receiver.recv() => refusal,
                _ = &mut finished => None,
            };
            let Some(first) = first else {
                break;
            };
            self.take(&mut sampler, first);
            let end = Instant::now() + BATCH_INTERVAL;
            let is_last = tokio::select! {
                () = self.gather(&mut sampler, end) => false,
                _ = &mut finished => true,
            };
            if is_last {
                break;
            }
            self.write(sampler.end()).await;
        }
        while let Ok(refusal) = self.receiver.try_recv() {
            self.take(&mut sampler, refusal);
        }
        self.write(sampler.end()).await;
    }

    async fn gather(&mut self, sampler: &mut RefusalSampler, end: Instant) {
        while let Ok(Some(refusal)) = timeout_at(end, self.receiver.recv()).await {
            self.take(sampler, refusal);
        }
    }

    fn take(&self, sampler: &mut RefusalSampler, refusal: NewRefusal) {
        if !sampler.take(refusal) {
            self.dropped.increment(1);
        }
    }

    async fn write(&self, refusals: Vec<NewRefusal>) {
        if refusals.is_empty() {
            return;
        }
        let count = refusals.len() as u64;
        match self.refusals.add(&refusals).await {
            Ok(()) => self.kept.increment(count),
            Err(error) => {
                self.dropped.increment(count);
                tracing::warn!(count, error = error_chain(&error), "cannot record refusals");
            }
        }
    }
}

/// Removes old refusals periodically.
pub(crate) async fn prune(refusals: Arc<dyn RefusalRepository>, clock: Arc<dyn Clock>) {
    let mut ticks = interval(PRUNE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        loop {
            match refusals.prune(clock.now().minus(KEPT_FOR), PRUNE_BATCH).await {
                Ok(PRUNE_BATCH) => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(error = error_chain(&error), "cannot remove old refusals");
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::refusal::{Owner, RefusalFilter};
    use domain::testing::{InMemoryStore, a_refusal};

    fn from(address: &str) -> NewRefusal {
        a_refusal(Owner::Address(address.to_owned()))
    }

    async fn kept(store: &InMemoryStore) -> usize {
        store.page(&RefusalFilter::default(), None, 10_000).await.unwrap().len()
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_are_written_in_batches_and_at_the_end() {
        let store = InMemoryStore::new();
        let (recorder, writer) = start(Arc::new(store.clone()));
        recorder.record(from("192.0.2.1"));
        recorder.record(from("192.0.2.1"));
        tokio::time::sleep(BATCH_INTERVAL / 2).await;
        assert_eq!(kept(&store).await, 0);
        tokio::time::sleep(BATCH_INTERVAL).await;
        assert_eq!(kept(&store).await, 2);
        recorder.record(from("192.0.2.2"));
        writer.finish().await;
        assert_eq!(kept(&store).await, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_dropped_and_a_failing_database_fails_nothing() {
        let store = InMemoryStore::new();
        let (recorder, writer) = start(Arc::new(store.clone()));
        store.set_failing(true);
        for number in 0..10 * MAX_QUEUED {
            recorder.record(from(&number.to_string()));
        }
        tokio::time::sleep(BATCH_INTERVAL * 2).await;
        store.set_failing(false);
        assert_eq!(kept(&store).await, 0);
        for _ in 0..100 {
            recorder.record(from("192.0.2.1"));
        }
        writer.finish().await;
        assert_eq!(kept(&store).await, 20, "a batch keeps a few of each owner");
    }
}
