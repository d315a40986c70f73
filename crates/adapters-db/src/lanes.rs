//! Tasks that take up requests together, each on the thread of those who ask it (ADR 53).
//!
//! A request that crosses from thread to thread costs two wake-ups, which is more than the request itself
//! where the machine is otherwise idle. So the first threads that ask have a lane each, whose task and
//! connection belong to their own runtime; further threads share them.

use futures_util::future::BoxFuture;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// Answers the requests of a lane until nobody can send any more.
pub(crate) type Serve<T> = Box<dyn Fn(mpsc::UnboundedReceiver<T>) -> BoxFuture<'static, ()> + Send + Sync>;

/// Lanes by which a database of many connections is asked.
pub(crate) const LANES: usize = 2;

/// The lanes, each begun by its first request.
pub(crate) struct Lanes<T> {
    /// `None` once they are closed.
    open: Mutex<Option<Vec<Option<Lane<T>>>>>,
    serve: Serve<T>,
    /// Where the tasks run; `None` is the runtime of whoever begins a lane.
    runtime: Option<Handle>,
}

struct Lane<T> {
    requests: mpsc::UnboundedSender<T>,
    task: JoinHandle<()>,
}

/// The lanes are closed.
#[derive(Debug)]
pub(crate) struct Closed;

impl<T> Lanes<T> {
    /// Lanes on the threads of those who ask.
    pub(crate) fn of_askers(serve: Serve<T>) -> Self {
        Self { open: Mutex::new(Some((0..LANES).map(|_| None).collect())), serve, runtime: None }
    }

    /// One lane for all, on this runtime.
    pub(crate) fn single(runtime: Handle, serve: Serve<T>) -> Self {
        Self { open: Mutex::new(Some(vec![None])), serve, runtime: Some(runtime) }
    }

    /// Hands a request to the lane of this thread.
    pub(crate) fn send(&self, request: T) -> Result<(), Closed> {
        self.send_by(seat(), request)
    }

    /// Hands over a request that must not overtake those of the same key, whichever thread they come from.
    pub(crate) fn send_in_order(&self, key: Uuid, request: T) -> Result<(), Closed> {
        self.send_by(usize::from(key.as_bytes()[15]), request)
    }

    fn send_by(&self, number: usize, request: T) -> Result<(), Closed> {
        let mut open = self.open();
        let lanes = open.as_mut().ok_or(Closed)?;
        let place = number % lanes.len();
        let lane = &mut lanes[place];
        let unsent = match lane {
            Some(lane) => match lane.requests.send(request) {
                Ok(()) => return Ok(()),
                // Its runtime has ended, and its task with it.
                Err(unsent) => unsent.0,
            },
            None => request,
        };
        lane.insert(self.begin()).requests.send(unsent).map_err(|_| Closed)
    }

    fn begin(&self) -> Lane<T> {
        let (requests, receiver) = mpsc::unbounded_channel();
        let runtime = self.runtime.clone().unwrap_or_else(Handle::current);
        Lane { requests, task: runtime.spawn((self.serve)(receiver)) }
    }

    /// Answers what waits, takes nothing more, and ends.
    pub(crate) async fn close(&self) {
        let lanes = self.open().take();
        for Lane { requests, task } in lanes.into_iter().flatten().flatten() {
            drop(requests);
            // Should the task have panicked, or ended with its runtime, there is nothing left to wait for.
            let _ = task.await;
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Vec<Option<Lane<T>>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of this thread among those that ask.
fn seat() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SEAT: Cell<Option<usize>> = const { Cell::new(None) };
    }
    SEAT.get().unwrap_or_else(|| {
        let seat = NEXT.fetch_add(1, Ordering::Relaxed);
        SEAT.set(Some(seat));
        seat
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::thread::{self, ThreadId};
    use tokio::sync::oneshot;

    type Asker = oneshot::Sender<ThreadId>;

    /// Tells each who asks the thread that answers.
    fn telling() -> Serve<Asker> {
        Box::new(|mut requests| {
            async move {
                while let Some(asker) = requests.recv().await {
                    let _ = asker.send(thread::current().id());
                }
            }
            .boxed()
        })
    }

    async fn ask(lanes: &Lanes<Asker>) -> Option<ThreadId> {
        let (asker, answer) = oneshot::channel();
        lanes.send(asker).ok()?;
        answer.await.ok()
    }

    /// What comes of it on a thread and a runtime of its own.
    fn elsewhere<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
        let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        thread::spawn(move || runtime().block_on(work)).join().unwrap()
    }

    #[tokio::test]
    async fn who_asks_first_is_answered_on_the_own_thread_and_others_are_answered_too() {
        let lanes = Arc::new(Lanes::of_askers(telling()));
        assert_eq!(ask(&lanes).await, Some(thread::current().id()));
        let others = (0..2 * LANES).map(|_| {
            let lanes = Arc::clone(&lanes);
            tokio::task::spawn_blocking(move || elsewhere(async move { ask(&lanes).await.is_some() }))
        });
        assert!(futures_util::future::join_all(others).await.into_iter().all(|answered| answered.unwrap()));
    }

    #[tokio::test]
    async fn requests_of_one_key_have_one_lane_whoever_sends_them() {
        let lanes = Arc::new(Lanes::of_askers(telling()));
        let ask = |key: u128| {
            let lanes = Arc::clone(&lanes);
            async move {
                let (asker, answer) = oneshot::channel();
                lanes.send_in_order(Uuid::from_u128(key), asker).unwrap();
                answer.await.unwrap()
            }
        };
        for key in 0..2 * LANES as u128 {
            let first = ask(key).await;
            let other = tokio::task::spawn_blocking({
                let asked = ask(key);
                move || elsewhere(asked)
            });
            assert_eq!(other.await.unwrap(), first);
        }
    }

    #[test]
    fn a_lane_whose_runtime_has_ended_is_begun_anew() {
        let lanes = Arc::new(Lanes::of_askers(telling()));
        let threads: BTreeSet<_> = (0..3 * LANES)
            .map(|_| {
                let lanes = Arc::clone(&lanes);
                format!("{:?}", elsewhere(async move { ask(&lanes).await.unwrap() }))
            })
            .collect();
        assert_eq!(threads.len(), 3 * LANES, "each was answered on its own thread");
    }

    #[tokio::test]
    async fn what_waits_is_answered_before_the_end_and_nothing_after_it() {
        for lanes in [Lanes::of_askers(telling()), Lanes::single(Handle::current(), telling())] {
            let (asker, answer) = oneshot::channel();
            lanes.send(asker).unwrap();
            lanes.close().await;
            assert!(answer.await.is_ok());
            assert_eq!(ask(&lanes).await, None);
        }
    }
}
