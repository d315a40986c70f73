//! Many waiting writes, one commit.
//!
//! Requests that write log entries, device statuses and crash reports wait in a bounded queue. One
//! task takes all that has gathered while its last commit ran, writes it with as few statements as
//! can be, and tells each request its own outcome. A single request is written at once. The order of
//! the queue is the order of receipt.

mod batch;

use crate::core::{Core, Work};
use crate::device_status::NewStatus;
use crate::entity::{crash_part, crash_report, log_entry};
use crate::error::{is_serialization_failure, store_error, unavailable};
use async_trait::async_trait;
use batch::statements;
use domain::error::StoreError;
use futures_util::FutureExt;
use sea_orm::{ConnAcquireErr, ConnectionTrait, DatabaseTransaction, DbErr, Statement};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Requests that may wait. Who comes when the queue is full waits for a place in it.
const WAITING: usize = 1024;

/// Requests of one commit, and bytes after which it takes no more of them.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// What a request wants to be written.
pub(crate) enum Record {
    Log(Box<log_entry::ActiveModel>),
    Status(Box<NewStatus>),
    CrashReport(Box<crash_report::ActiveModel>, Vec<crash_part::ActiveModel>),
}

/// A commit gets this many times the patience of a request: those whose patience has ended are told that
/// it failed, but a slow disk still gets their records.
const PATIENCE_FACTOR: u32 = 3;

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
    loop {
        let first = tokio::select! {
            () = closing.notified() => {
                requests.close();
                continue;
            }
            first = requests.recv() => first,
        };
        let Some(first) = first else {
            return;
        };
        // A panic must not stop the writing for ever; whose outcome is dropped is told so.
        if AssertUnwindSafe(commit(&core, gather(first, &mut requests))).catch_unwind().await.is_err() {
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

async fn commit(core: &Core, batch: Vec<Request>) {
    let records: Vec<&Record> = batch.iter().map(|request| &request.record).collect();
    let error = write(core, &records).await.err();
    let may_be_one_rows_fault =
        |error: &DbErr| batch.len() > 1 && !matches!(store_error(error.clone()), StoreError::Unavailable(_));
    if error.as_ref().is_some_and(may_be_one_rows_fault) {
        for request in batch {
            let outcome = write(core, &[&request.record]).await.map_err(store_error);
            answer(request.outcome, outcome);
        }
        return;
    }
    for request in batch {
        answer(request.outcome, error.clone().map_or(Ok(()), |error| Err(store_error(error))));
    }
}

fn answer(request: oneshot::Sender<Result<(), StoreError>>, outcome: Result<(), StoreError>) {
    // Who has gone away doesn't hear it.
    let _ = request.send(outcome);
}

/// Writes all of `records` or none. The one writer must not wait for ever for a database that has
/// silently gone: after a while it gives this connection up and goes on with the next one.
async fn write(core: &Core, records: &[&Record]) -> Result<(), DbErr> {
    let written = timeout(core.patience * PATIENCE_FACTOR, write_at_length(core, records)).await;
    written.unwrap_or(Err(DbErr::ConnectionAcquire(ConnAcquireErr::Timeout)))
}

async fn write_at_length(core: &Core, records: &[&Record]) -> Result<(), DbErr> {
    let statements = statements(core.backend, records);
    if let [only] = &statements[..] {
        // One statement is a transaction of its own.
        match core.writes.execute_raw(only.clone()).await {
            Err(error) if is_serialization_failure(&error) => {}
            outcome => return outcome.map(drop),
        }
    }
    core.transact(&Batch(statements)).await
}

struct Batch(Vec<Statement>);

#[async_trait]
impl Work for Batch {
    type Done = ();
    type Fault = DbErr;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        for statement in &self.0 {
            transaction.execute_raw(statement.clone()).await?;
        }
        Ok(())
    }
}
