//! Many waiting writes, one commit.
//!
//! Requests that write log entries, device statuses and crash reports wait in a bounded queue. One
//! task takes all that has gathered while its last commit ran, writes it with as few statements as
//! can be, and tells each request its own outcome. A single request is written at once. The order of
//! the queue is the order of receipt.

mod batch;
mod postgres;
mod sqlite;
mod table;
mod writer;

use crate::core::Core;
use crate::device_status::NewStatus;
use crate::entity::{crash_part, crash_report};
use crate::error::unavailable;
use crate::log_entry;
use domain::error::StoreError;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use writer::{Failure, Writer};

pub(crate) use table::{Cell, Kind, Row, Table};

/// Requests that may wait. Who comes when the queue is full waits for a place in it.
const WAITING: usize = 1024;

/// Requests of one commit, and bytes after which it takes no more of them.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// What a request wants to be written.
pub(crate) enum Record {
    Log(Box<log_entry::NewRow>),
    Status(Box<NewStatus>),
    CrashReport(Box<crash_report::Model>, Vec<crash_part::Model>),
}

struct Request {
    record: Record,
    /// Bytes of its texts, roughly.
    bytes: usize,
    outcome: oneshot::Sender<Result<(), StoreError>>,
}

/// The queue and the task behind it.
pub(crate) struct GroupCommit {
    core: Arc<Core>,
    queue: mpsc::Sender<Request>,
    closing: Arc<Notify>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl GroupCommit {
    /// Starts the writing task. It ends when it is told to, or when nobody can ask it any more.
    pub(crate) fn start(core: Arc<Core>) -> Self {
        let (queue, requests) = mpsc::channel(WAITING);
        let closing = Arc::new(Notify::new());
        let writer = core.runtime.spawn(write_all(core.clone(), requests, closing.clone()));
        Self { core, queue, closing, writer: Mutex::new(Some(writer)) }
    }

    /// Writes `record`, whose texts have `bytes`; it is durable when this succeeds. Once it is in the
    /// queue it is written, even if the caller goes away.
    pub(crate) async fn add(&self, record: Record, bytes: usize) -> Result<(), StoreError> {
        let (outcome, written) = oneshot::channel();
        let write = async {
            self.enqueue(Request { record, bytes, outcome }).await?;
            written.await.map_err(|_| closed())?
        };
        timeout(self.core.patience, write).await.map_err(|_| unavailable("the database didn't answer in time"))?
    }

    /// Enters a request at once where there is room: the first poll begins the write, in the order of the
    /// calls. (`send` alone may yield first, for the sake of other tasks.)
    async fn enqueue(&self, request: Request) -> Result<(), StoreError> {
        let request = match self.queue.try_send(request) {
            Err(TrySendError::Full(request)) => request,
            outcome => return outcome.map_err(|_| closed()),
        };
        self.queue.send(request).await.map_err(|_| closed())
    }

    /// Writes what waits, takes nothing more, and ends.
    pub(crate) async fn close(&self) {
        self.closing.notify_one();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // Should the task have panicked, there is nothing left to wait for.
            let _ = writer.await;
        }
    }
}

fn closed() -> StoreError {
    unavailable("the database is closed")
}

async fn write_all(core: Arc<Core>, mut requests: mpsc::Receiver<Request>, closing: Arc<Notify>) {
    let mut writer = Writer::new(&core);
    loop {
        let first = tokio::select! {
            () = closing.notified() => {
                requests.close();
                continue;
            }
            first = requests.recv() => first,
        };
        let Some(first) = first else {
            return writer.close().await;
        };
        // A panic must not stop the writing for ever; whose outcome is dropped is told so.
        let batch = gather(first, &mut requests);
        if AssertUnwindSafe(commit(&mut writer, batch)).catch_unwind().await.is_err() {
            tracing::error!("writing a batch panicked");
        }
    }
}

/// All that waits, up to the bounds of one commit.
fn gather(first: Request, requests: &mut mpsc::Receiver<Request>) -> Vec<Request> {
    let mut bytes = first.bytes;
    let mut batch = vec![first];
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        let Ok(request) = requests.try_recv() else {
            break;
        };
        bytes += request.bytes;
        batch.push(request);
    }
    batch
}

async fn commit(writer: &mut Writer, batch: Vec<Request>) {
    match writer.write(batch.iter().map(|request| &request.record)).await {
        Ok(()) => {
            for request in batch {
                answer(request.outcome, Ok(()));
            }
        }
        // Nothing was written, and it may be one row's fault.
        Err(failure) if failure.is_of_the_rows() && batch.len() > 1 => {
            for request in batch {
                let outcome = writer.write([&request.record]).await;
                answer(request.outcome, outcome.map_err(Failure::told));
            }
        }
        Err(failure) => {
            for request in batch {
                answer(request.outcome, Err(failure.clone().told()));
            }
        }
    }
}

fn answer(request: oneshot::Sender<Result<(), StoreError>>, outcome: Result<(), StoreError>) {
    // Who has gone away doesn't hear it.
    let _ = request.send(outcome);
}
