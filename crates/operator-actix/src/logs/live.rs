//! The entries that arrive, for all streams of this process: one follower reads the database, each stream takes what fits
//! its query. A stream that lags, or comes back, reads the database itself up to where the follower is.

use domain::error::{StoreError, error_chain};
use domain::inspection::{InspectedLogEntry, LogFollower};
use domain::log_entry::LogNumber;
use domain::operator_log::{LogQuery, OperatorLogEntry, OperatorLogService, OrganizationNames};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex, broadcast};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Pause after which the follower asks for new entries again.
const PAUSE: Duration = Duration::from_millis(300);

/// Pause after a failure.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Batches, each of about 1 MiB at most, by which a stream may lag before it reads the database.
const MAX_BATCHES_BEHIND: usize = 16;

/// The one follower of this process, which runs while there are streams.
pub struct LiveLog {
    logs: Arc<OperatorLogService>,
    batches: RwLock<broadcast::Sender<Batch>>,
    /// Up to which number entries were given to the streams.
    position: AtomicI64,
    follower: Mutex<Option<JoinHandle<()>>>,
    is_closed: AtomicBool,
}

/// All entries above one number up to another.
#[derive(Clone)]
struct Batch {
    after: LogNumber,
    up_to: LogNumber,
    entries: Arc<[InspectedLogEntry]>,
}

impl LiveLog {
    /// Follows nothing before the first stream.
    #[must_use]
    pub fn new(logs: Arc<OperatorLogService>) -> Arc<Self> {
        Arc::new(Self {
            logs,
            batches: RwLock::new(broadcast::channel(MAX_BATCHES_BEHIND).0),
            position: AtomicI64::new(0),
            follower: Mutex::new(None),
            is_closed: AtomicBool::new(false),
        })
    }

    /// A reader of what arrives from now on, or since the position of another reader. The query is within the scope of its
    /// operator.
    ///
    /// # Errors
    /// A store failure.
    pub async fn read(self: &Arc<Self>, query: LogQuery, after: Option<LogNumber>) -> Result<LogReader, StoreError> {
        let batches = self.subscribe().await?;
        let current = LogNumber(self.position.load(Ordering::SeqCst));
        let (position, target) = (after.unwrap_or(current), after.map(|_| current));
        let (live, names) = (Arc::clone(self), OrganizationNames::default());
        Ok(LogReader { live, query, names, batches, position, target, follower: None })
    }

    /// Ends all streams, now and later: the server stops.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        // Readers see the end once the last sender is gone.
        *self.batches.write().unwrap_or_else(PoisonError::into_inner) = broadcast::channel(1).0;
    }

    /// Subscribes to the batches, of a follower that runs.
    async fn subscribe(self: &Arc<Self>) -> Result<broadcast::Receiver<Batch>, StoreError> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Ok(broadcast::channel(1).1);
        }
        let mut running = self.follower.lock().await;
        if running.as_ref().is_none_or(JoinHandle::is_finished) {
            let follower = self.logs.follow(LogQuery::default(), None).await?;
            self.position.store(follower.position().0, Ordering::SeqCst);
            *running = Some(tokio::spawn(Arc::clone(self).follow(follower)));
        }
        Ok(self.sender().subscribe())
    }

    fn sender(&self) -> broadcast::Sender<Batch> {
        self.batches.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the streams what arrives, until there is none.
    async fn follow(self: Arc<Self>, mut follower: Box<dyn LogFollower>) {
        let mut has_failed = false;
        while !self.is_closed.load(Ordering::SeqCst) {
            let pause = match follower.next().await {
                Ok(entries) => {
                    has_failed = false;
                    let is_quiet = entries.is_empty();
                    self.give(entries, follower.position());
                    if is_quiet { PAUSE } else { Duration::ZERO }
                }
                Err(error) => {
                    if !has_failed {
                        tracing::warn!(cause = error_chain(&error), "live log entries wait for the database");
                    }
                    has_failed = true;
                    PAUSE_AFTER_FAILURE
                }
            };
            sleep(pause).await;
            if self.sender().receiver_count() == 0 {
                // No stream can begin while the lock is held.
                let mut running = self.follower.lock().await;
                if self.sender().receiver_count() == 0 {
                    *running = None;
                    return;
                }
            }
        }
    }

    fn give(&self, entries: Vec<InspectedLogEntry>, up_to: LogNumber) {
        let after = LogNumber(self.position.swap(up_to.0, Ordering::SeqCst));
        if up_to > after {
            // It fails where there is no stream.
            let _ = self.sender().send(Batch { after, up_to, entries: entries.into() });
        }
    }
}

/// What a reader was given.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Entries that fit, perhaps none.
    Entries(Vec<OperatorLogEntry>),
    /// Nothing arrived in time.
    Quiet,
    /// The server stops.
    Closed,
}

/// A reader of the entries that fit a query, each once and in the order of their numbers.
pub struct LogReader {
    live: Arc<LiveLog>,
    query: LogQuery,
    names: OrganizationNames,
    batches: broadcast::Receiver<Batch>,
    /// Up to which number all that fits was given.
    position: LogNumber,
    /// Up to which number the reader has to read the database itself.
    target: Option<LogNumber>,
    /// What it reads the database with.
    follower: Option<Box<dyn LogFollower>>,
}

impl LogReader {
    /// Up to which number all that fits was given: where another reader goes on.
    #[must_use]
    pub fn position(&self) -> LogNumber {
        self.position
    }

    /// What arrives next, within a time. It must not be dropped before it is ready.
    ///
    /// # Errors
    /// A store failure.
    pub async fn next(&mut self, wait: Duration) -> Result<Arrival, StoreError> {
        if let Some(target) = self.target {
            return self.read_up_to(target).await.map(Arrival::Entries);
        }
        let batch = match timeout(wait, self.batches.recv()).await {
            Err(_) => return Ok(Arrival::Quiet),
            Ok(Err(RecvError::Closed)) => return Ok(Arrival::Closed),
            // The next batch begins above the position, so the database is read.
            Ok(Err(RecvError::Lagged(_))) => return Ok(Arrival::Entries(Vec::new())),
            Ok(Ok(batch)) => batch,
        };
        if batch.after > self.position {
            self.target = Some(batch.up_to);
            return Ok(Arrival::Entries(Vec::new()));
        }
        let is_new = |entry: &&InspectedLogEntry| entry.number > self.position && self.query.fits(entry);
        let entries: Vec<InspectedLogEntry> = batch.entries.iter().filter(is_new).cloned().collect();
        let entries = self.live.logs.named(entries, &mut self.names).await?;
        self.position = self.position.max(batch.up_to);
        Ok(Arrival::Entries(entries))
    }

    async fn read_up_to(&mut self, target: LogNumber) -> Result<Vec<OperatorLogEntry>, StoreError> {
        let mut follower = match self.follower.take() {
            Some(follower) => follower,
            None => self.live.logs.follow(self.query.clone(), Some(self.position)).await?,
        };
        let entries = follower.next().await?;
        let position = follower.position();
        let entries = self.live.logs.named(entries, &mut self.names).await?;
        self.position = position;
        if entries.is_empty() && position >= target {
            self.target = None;
        } else {
            self.follower = Some(follower);
            if entries.is_empty() {
                sleep(PAUSE).await;
            }
        }
        Ok(entries)
    }
}
