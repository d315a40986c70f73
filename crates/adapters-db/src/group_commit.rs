//! Many waiting writes, one commit.
//!
//! Requests that write log entries, device statuses and crash reports wait in a bounded queue. The task
//! of each lane takes all that has gathered while its last commit ran, writes it with as few statements as
//! can be, and tells each request its own outcome. A single request is written at once.

mod batch;
mod postgres;
mod progress;
mod queue;
mod sqlite;
mod table;
mod writer;

use crate::core::Core;
use crate::device_status::NewStatus;
use crate::entity::{crash_part, crash_report};
use crate::error::unavailable;
use crate::lanes::{Closed, Lanes};
use crate::log_entry;
use domain::error::StoreError;
use futures_util::FutureExt;
use progress::Progress;
use queue::{Place, Queue};
use sea_orm::DbBackend;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use writer::{Failure, Writer};

pub(crate) use table::{Cell, Kind, Table, Written};

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
    _place: Place,
}

/// The queue and the tasks behind it.
pub(crate) struct GroupCommit {
    core: Arc<Core>,
    places: Queue,
    lanes: Lanes<Request>,
    progress: Arc<Progress>,
}

impl GroupCommit {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let progress = Arc::new(Progress::new());
        let serve = {
            let (core, progress, origins) = (core.clone(), progress.clone(), Arc::new(log_entry::Origins::new()));
            Box::new(move |requests| write_all(Writer::new(&core, origins.clone()), requests, progress.clone()).boxed())
        };
        let lanes = match core.backend {
            DbBackend::Postgres => Lanes::of_askers(serve),
            // One connection writes.
            _ => Lanes::single(core.runtime.clone(), serve),
        };
        // Who gets a place late still has time for the writing.
        let places = Queue::new(core.patience / 2);
        Self { core, places, lanes, progress }
    }

    /// Writes `record`, whose texts have `bytes`; it is durable when this succeeds. Once it is in the
    /// queue it is written, even if the caller goes away. The first poll enters it where there is room.
    pub(crate) async fn add(&self, record: Record, bytes: usize) -> Result<(), StoreError> {
        let write = async {
            let (outcome, written) = oneshot::channel();
            let place = self.places.place(bytes).await?;
            // Of two statuses of a device the later one must not be written first.
            let device = if let Record::Status(status) = &record { Some(status.key().1) } else { None };
            let request = Request { record, bytes, outcome, _place: place };
            let sent = match device {
                Some(device) => self.lanes.send_in_order(device, request),
                None => self.lanes.send(request),
            };
            sent.map_err(|Closed| closed())?;
            written.await.map_err(|_| closed())?
        };
        timeout(self.core.patience, write).await.map_err(|_| unavailable("the database didn't answer in time"))?
    }

    /// Whether nothing can be written now, though the database may answer questions.
    pub(crate) fn is_stalled(&self) -> bool {
        self.progress.stands_for() > self.core.patience
    }

    /// Writes what waits, takes nothing more, and ends.
    pub(crate) async fn close(&self) {
        self.lanes.close().await;
    }
}

fn closed() -> StoreError {
    unavailable("the database is closed")
}

async fn write_all(mut writer: Writer, mut requests: mpsc::UnboundedReceiver<Request>, progress: Arc<Progress>) {
    while let Some(first) = requests.recv().await {
        let batch = gather(first, &mut requests);
        progress.begin();
        // A panic must not stop the writing for ever; whose outcome is dropped is told so.
        let committed = AssertUnwindSafe(commit(&mut writer, batch)).catch_unwind().await;
        if committed.is_err() {
            tracing::error!("writing a batch panicked");
        }
        if committed.unwrap_or(true) || requests.is_empty() {
            progress.rest();
        }
    }
    writer.close().await;
}

/// All that waits, up to the bounds of one commit.
fn gather(first: Request, requests: &mut mpsc::UnboundedReceiver<Request>) -> Vec<Request> {
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

/// Writes a batch and tells each request its outcome; whether the database had a word on it.
async fn commit(writer: &mut Writer, mut batch: Vec<Request>) -> bool {
    let mut records: Vec<_> = batch.iter_mut().map(|request| &mut request.record).collect();
    match writer.write(&mut records).await {
        Ok(()) => {
            for request in batch {
                answer(request.outcome, Ok(()));
            }
            true
        }
        // Nothing was written, and it may be one row's fault.
        Err(failure) if failure.is_of_the_rows() && batch.len() > 1 => {
            for mut request in batch {
                let outcome = writer.write(&mut [&mut request.record]).await;
                answer(request.outcome, outcome.map_err(Failure::told));
            }
            true
        }
        Err(failure) => {
            for request in batch {
                answer(request.outcome, Err(failure.clone().told()));
            }
            failure.is_of_the_rows()
        }
    }
}

fn answer(request: oneshot::Sender<Result<(), StoreError>>, outcome: Result<(), StoreError>) {
    // Who has gone away doesn't hear it.
    let _ = request.send(outcome);
}
