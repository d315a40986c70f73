//! Many small writes share one commit (ADR 12).
//!
//! Rows wait in a bounded queue. One task takes the rows that arrived while the previous commit ran, up to the
//! limits of a batch, writes them in one transaction, and reports the outcome to each caller. A single row
//! is written at once.

use crate::connect::LostSessions;
use crate::connections::{Connections, retry_transaction};
use crate::error::{FailedTransaction, is_row_error, shared_write_error, unavailable};
use async_trait::async_trait;
use domain::error::{StoreError, WriteError};
use futures_util::FutureExt;
use metering::{Counted, CounterHandle, GaugeHandle, HistogramHandle, catalog};
use sea_orm::{ConnAcquireErr, DbErr};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Rows of one commit.
const MAX_BATCH_ROWS: usize = 512;

/// Bytes of one commit; the row that exceeds them is the last.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of all rows in the queue.
const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// Bytes that a row counts at least, which bounds the queue to 1,024 rows.
const MIN_ROW_BYTES: usize = MAX_QUEUED_BYTES / 1024;

/// Bytes of all rows that wait for room in the queue.
const MAX_WAITING_BYTES: usize = 4 * MAX_QUEUED_BYTES;

/// A commit may take this many times as long as a caller waits: a slow disk still gets the rows of callers who gave up.
const COMMIT_TIMEOUT_FACTOR: u32 = 3;

/// Stores batches of rows.
#[async_trait]
pub(crate) trait BatchWriter: Send + Sync + 'static {
    type Row: Send + Sync + 'static;

    /// Stores all rows in one transaction, or none of them.
    async fn write(&self, rows: &[Self::Row]) -> Result<(), FailedTransaction<DbErr>>;
}

/// A row in the queue.
struct Pending<Row> {
    row: Row,
    bytes: usize,
    caller: Caller,
}

/// The caller that waits for the outcome. Dropping this value frees its room in the queue.
struct Caller {
    outcome: oneshot::Sender<Result<(), WriteError>>,
    _room: OwnedSemaphorePermit,
    _queued: Counted,
}

/// Collects rows that arrive while the previous commit runs and writes them in the next one.
pub(crate) struct GroupCommit<Row> {
    queue: Mutex<Option<mpsc::UnboundedSender<Pending<Row>>>>,
    task: Mutex<Option<JoinHandle<()>>>,
    room: Arc<Semaphore>,
    waiting_room: Arc<Semaphore>,
    max_wait: Duration,
    stalled_since: Arc<Mutex<Option<Instant>>>,
    queued: GaugeHandle,
    waiting: GaugeHandle,
}

impl<Row: Send + Sync + 'static> GroupCommit<Row> {
    /// Starts the task that writes batches. A caller waits as long as for any answer of the database.
    pub(crate) fn start(db: &Connections, writer: impl BatchWriter<Row = Row>) -> Self {
        let max_wait = db.timeout;
        let (queue, rows) = mpsc::unbounded_channel();
        let stalled_since = Arc::new(Mutex::new(None));
        let commits = Commits::new(db, writer, stalled_since.clone());
        Self {
            queue: Mutex::new(Some(queue)),
            task: Mutex::new(Some(db.runtime.spawn(commits.run(rows)))),
            room: Arc::new(Semaphore::new(MAX_QUEUED_BYTES)),
            waiting_room: Arc::new(Semaphore::new(MAX_WAITING_BYTES)),
            max_wait,
            stalled_since,
            queued: catalog::QUEUE_DEPTH.with(["commit"]),
            waiting: catalog::QUEUE_DEPTH.with(["commit_admission"]),
        }
    }

    /// Resolves after the commit that holds `row`, whose texts have `bytes`. A queued row is written even if the caller
    /// goes away.
    ///
    /// # Errors
    /// `Overloaded` where the queue stays full for half of `max_wait`: the row is not written. `InDoubt` after `max_wait`:
    /// the row may still be written.
    pub(crate) async fn add(&self, row: Row, bytes: usize) -> Result<(), WriteError> {
        let written = async {
            let room = self.reserve(bytes).await?;
            let (outcome, written) = oneshot::channel();
            let caller = Caller { outcome, _room: room, _queued: Counted::by(&self.queued) };
            let pending = Pending { row, bytes, caller };
            let sent = lock(&self.queue).as_ref().is_some_and(|queue| queue.send(pending).is_ok());
            if sent { written.await.map_err(|_| closed())? } else { Err(WriteError::NotStored(closed())) }
        };
        let written = timeout(self.max_wait, written).await;
        written.map_err(|_| unavailable("the database didn't answer in time"))?
    }

    async fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, StoreError> {
        let bytes = u32::try_from(bytes.clamp(MIN_ROW_BYTES, MAX_QUEUED_BYTES)).unwrap_or(u32::MAX);
        if let Ok(room) = self.room.clone().try_acquire_many_owned(bytes) {
            return Ok(room);
        }
        let _waits = self.waiting_room.try_acquire_many(bytes).map_err(|_| StoreError::Overloaded)?;
        let _waiting = Counted::by(&self.waiting);
        let room = timeout(self.max_wait / 2, self.room.clone().acquire_many_owned(bytes)).await;
        room.ok().and_then(Result::ok).ok_or(StoreError::Overloaded)
    }

    /// Whether rows wait and none could be written for as long as a caller waits.
    pub(crate) fn is_stalled(&self) -> bool {
        lock(&self.stalled_since).is_some_and(|since| since.elapsed() > self.max_wait)
    }

    /// Writes the queued rows, accepts no more, and ends the task.
    pub(crate) async fn close(&self) {
        lock(&self.queue).take();
        let task = lock(&self.task).take();
        if let Some(task) = task {
            // A task that ended with its runtime has nothing left to write.
            let _ = task.await;
        }
    }
}

/// The task that writes batches.
struct Commits<Writer> {
    writer: Writer,
    lost_sessions: Arc<LostSessions>,
    timeout: Duration,
    stalled_since: Arc<Mutex<Option<Instant>>>,
    written: CounterHandle,
    failed: CounterHandle,
    rows: HistogramHandle,
}

impl<Writer: BatchWriter> Commits<Writer> {
    fn new(db: &Connections, writer: Writer, stalled_since: Arc<Mutex<Option<Instant>>>) -> Self {
        let commits = |outcome| catalog::COMMITS.with([outcome]);
        let rows = catalog::COMMIT_ROWS.with([]);
        let (lost_sessions, timeout) = (db.lost_sessions.clone(), db.timeout * COMMIT_TIMEOUT_FACTOR);
        Self {
            writer,
            lost_sessions,
            timeout,
            stalled_since,
            written: commits("written"),
            failed: commits("failed"),
            rows,
        }
    }

    async fn run(self, mut queue: mpsc::UnboundedReceiver<Pending<Writer::Row>>) {
        while let Some(first) = queue.recv().await {
            let batch = next_batch(first, &mut queue);
            lock(&self.stalled_since).get_or_insert_with(Instant::now);
            // A panic must not end the task; callers whose outcome is dropped get an error.
            let answered = AssertUnwindSafe(self.commit(batch)).catch_unwind().await.unwrap_or_else(|_| {
                tracing::error!("writing a batch panicked");
                true
            });
            if answered || queue.is_empty() {
                *lock(&self.stalled_since) = None;
            }
        }
    }

    /// Writes a batch and reports each outcome; whether the database answered.
    async fn commit(&self, batch: Vec<Pending<Writer::Row>>) -> bool {
        let (mut rows, mut callers) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for pending in batch {
            rows.push(pending.row);
            callers.push(pending.caller);
        }
        let written = self.write(&rows).await;
        let is_refused = |failed: &FailedTransaction<DbErr>| is_row_error(&failed.error);
        let retry = rows.len() > 1 && written.as_ref().is_err_and(is_refused);
        let answered = written.as_ref().map_or_else(is_refused, |()| true);
        let share = |failed: FailedTransaction<DbErr>| (failed.is_certain(), Arc::new(failed.error));
        let mut shared = written.map_err(share);
        for (row, caller) in rows.chunks(1).zip(callers) {
            if retry {
                // Nothing was written, and one row may be the reason.
                shared = self.write(row).await.map_err(share);
            }
            // The caller may have gone away.
            let _ = caller.outcome.send(shared.clone().map_err(shared_write_error));
        }
        answered
    }

    async fn write_once(&self, rows: &[Writer::Row]) -> Result<(), FailedTransaction<DbErr>> {
        self.writer.write(rows).await.inspect_err(|failed| self.lost_sessions.report(&failed.error))
    }

    async fn write(&self, rows: &[Writer::Row]) -> Result<(), FailedTransaction<DbErr>> {
        let written = timeout(self.timeout, retry_transaction(|| self.write_once(rows))).await;
        let late = || FailedTransaction::in_commit(DbErr::ConnectionAcquire(ConnAcquireErr::Timeout));
        let written = written.unwrap_or_else(|_| Err(late()));
        if written.is_ok() {
            self.written.increment(1);
            self.rows.record(f64::from(u32::try_from(rows.len()).unwrap_or(u32::MAX)));
        } else {
            self.failed.increment(1);
        }
        written
    }
}

/// `first` and the rows that wait after it, up to the bounds of a batch. Their number is a power of two or one and a half
/// of it, so that a connection prepares few different statements; further rows wait for the next commit.
fn next_batch<Row>(first: Pending<Row>, queue: &mut mpsc::UnboundedReceiver<Pending<Row>>) -> Vec<Pending<Row>> {
    let waiting = (1 + queue.len()).min(MAX_BATCH_ROWS);
    let power = 1_usize << waiting.ilog2();
    let rows = if waiting < power + power / 2 { power } else { power + power / 2 };
    let mut bytes = first.bytes;
    let mut batch = vec![first];
    while batch.len() < rows && bytes < MAX_BATCH_BYTES {
        let Ok(pending) = queue.try_recv() else { break };
        bytes += pending.bytes;
        batch.push(pending);
    }
    batch
}

fn closed() -> StoreError {
    unavailable("the database is closed")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
