//! The way of a blob into its place. The work is done by a task of its own, so that a client that
//! hangs up, whereby the writer is dropped at any await, never stops it between two steps: the task
//! always comes to a blob that is published, or to nothing. Receiving, hashing and writing go on side by
//! side.

mod digest;
#[cfg(test)]
mod tests;

use self::digest::Digest;
use crate::error::{spelled_out, store_error};
use crate::place::{Place, action, within};
use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobKey, BlobWriter};
use domain::checksum::Sha1Checksum;
use domain::error::StoreError;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload, PutPayloadMut};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

/// Commands that may wait; each holds the bytes of one call.
const WAITING: usize = 2;

/// Shorter pieces are copied together: each would pin the buffer that it was received in.
const COPIED_BELOW: usize = 4096;

/// What of a part is gathered before the upload must have a place for all of it, where places are few:
/// small blobs never wait behind large ones.
const UNRESERVED: usize = 64 * 1024;

/// Bytes after which what has arrived is made durable: all of a large blob at its end takes as long as half of its
/// receiving.
const SETTLED_EVERY: u64 = 16 * 1024 * 1024;

/// Putting many parts together takes a server longer than an ordinary answer, but this much faster
/// than receiving them.
const JOINING_SPEED: u64 = 128;

/// What the caller of a failed upload waits for its removal. After that it goes on by itself.
const REMOVAL_WAIT: Duration = Duration::from_millis(250);

/// What the removal of a failed upload waits for its parts under way.
const PARTS_WAIT: Duration = Duration::from_secs(1);

/// The sum of a blob that was published; none of one that was given up.
type Outcome = Result<Option<Sha1Checksum>, StoreError>;

enum Command {
    Write(Bytes),
    Finish,
    Abort,
}

/// The caller's end of an upload. Dropping it without `finish` gives the blob up.
pub(crate) struct UploadWriter {
    /// `None` after `finish` or `abort`.
    commands: Option<mpsc::Sender<Command>>,
    /// How it ended; `None` once told.
    outcome: Option<oneshot::Receiver<Outcome>>,
}

impl UploadWriter {
    pub(crate) fn begin(place: Arc<dyn Place>, key: BlobKey) -> Self {
        let (commands, received) = mpsc::channel(WAITING);
        let (answer, outcome) = oneshot::channel();
        tokio::spawn(Upload::new(place, key).run(received, answer));
        Self { commands: Some(commands), outcome: Some(outcome) }
    }

    async fn outcome(&mut self) -> Outcome {
        self.commands = None;
        let Some(outcome) = &mut self.outcome else {
            return Err(StoreError::other("this upload has ended"));
        };
        let result = outcome.await.unwrap_or_else(|_| Err(StoreError::other("the upload was stopped")));
        self.outcome = None;
        result
    }
}

#[async_trait]
impl BlobWriter for UploadWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let Some(commands) = &self.commands else {
            return Err(StoreError::other("this upload has ended"));
        };
        match commands.send(Command::Write(bytes)).await {
            Ok(()) => Ok(()),
            // The task ends before its time only when it failed.
            Err(_) => self.outcome().await.map(drop),
        }
    }

    async fn finish(&mut self) -> Result<Sha1Checksum, StoreError> {
        if let Some(commands) = &self.commands {
            // Not taken: the task has failed, and its outcome says why.
            let _ = commands.send(Command::Finish).await;
        }
        self.outcome().await?.ok_or_else(|| StoreError::other("the upload was given up"))
    }

    async fn abort(&mut self) -> Result<(), StoreError> {
        match &self.commands {
            Some(commands) if commands.send(Command::Abort).await.is_ok() => self.outcome().await.map(drop),
            // A failed upload has removed by itself what it wrote.
            _ => Ok(()),
        }
    }
}

/// The task's end.
struct Upload {
    place: Arc<dyn Place>,
    key: BlobKey,
    location: Path,
    gathered: PutPayloadMut,
    /// The place of what is gathered, where places are few.
    place_in_memory: Option<OwnedSemaphorePermit>,
    digest: Digest,
    /// Bytes received.
    size: u64,
    parts: Option<Box<dyn MultipartUpload>>,
    running: JoinSet<object_store::Result<()>>,
    /// Bytes of parts since it was last begun to make them durable, and that.
    unsettled: u64,
    settling: Option<JoinHandle<io::Result<()>>>,
    /// Whether the step that publishes was begun: from then on the blob may be visible.
    publishing: bool,
}

enum End {
    Finish,
    GivenUp,
}

impl Upload {
    fn new(place: Arc<dyn Place>, key: BlobKey) -> Self {
        let location = place.location(&key);
        Self {
            place,
            key,
            location,
            gathered: PutPayloadMut::new(),
            place_in_memory: None,
            digest: Digest::new(),
            size: 0,
            parts: None,
            running: JoinSet::new(),
            unsettled: 0,
            settling: None,
            publishing: false,
        }
    }

    async fn run(mut self, mut commands: mpsc::Receiver<Command>, answer: oneshot::Sender<Outcome>) {
        let result = match self.receive(&mut commands).await {
            Ok(End::Finish) => self.publish().await.map(Some),
            Ok(End::GivenUp) => Ok(None),
            Err(error) => Err(error),
        };
        // Whoever writes on shall find the way closed and ask for the outcome.
        drop(commands);
        let ended = match result {
            Ok(Some(checksum)) => match answer.send(Ok(Some(checksum))) {
                Ok(()) => return,
                // Nobody waits for the outcome any more, so nobody will ever refer to this blob.
                Err(_) => return self.remove().await,
            },
            Ok(None) => Ok(None),
            Err(error) => {
                let doing = action("write", &self.key);
                Err(store_error(doing, self.place.name(), &error))
            }
        };
        let mut removal = tokio::spawn(self.remove());
        let _ = tokio::time::timeout(REMOVAL_WAIT, &mut removal).await;
        let _ = answer.send(ended);
    }

    /// Takes in bytes until the caller ends it or a part fails.
    async fn receive(&mut self, commands: &mut mpsc::Receiver<Command>) -> object_store::Result<End> {
        loop {
            tokio::select! {
                Some(part) = self.running.join_next() => part??,
                command = commands.recv() => match command {
                    Some(Command::Write(bytes)) => self.take_in(bytes).await?,
                    Some(Command::Finish) => return Ok(End::Finish),
                    Some(Command::Abort) | None => return Ok(End::GivenUp),
                },
            }
        }
    }

    /// A full part is sent only when more follows, so that a blob of exactly one part needs one step.
    async fn take_in(&mut self, mut bytes: Bytes) -> object_store::Result<()> {
        let part_size = self.place.manner().part_size;
        self.size += bytes.len() as u64;
        while !bytes.is_empty() {
            if self.gathered.content_length() == part_size {
                self.send_part().await?;
            }
            let room = part_size - self.gathered.content_length();
            let piece = bytes.split_to(room.min(bytes.len()));
            if self.gathered.content_length() + piece.len() > UNRESERVED {
                self.take_place().await;
            }
            if piece.len() < COPIED_BELOW {
                self.gathered.extend_from_slice(&piece);
            } else {
                self.gathered.push(piece);
            }
        }
        Ok(())
    }

    /// Waits for a place in memory for the part that is being gathered. Those who hold one give it back
    /// without needing another, so that nobody waits for ever.
    async fn take_place(&mut self) {
        if let (None, Some(room)) = (&self.place_in_memory, self.place.room()) {
            self.place_in_memory = room.clone().acquire_owned().await.ok();
        }
    }

    /// What is gathered, on its way to the sum too.
    async fn take_gathered(&mut self) -> object_store::Result<PutPayload> {
        let payload = PutPayload::from(std::mem::take(&mut self.gathered));
        self.digest.take_up(&payload).await?;
        Ok(payload)
    }

    async fn send_part(&mut self) -> object_store::Result<()> {
        while self.running.len() >= self.place.manner().parts_at_once {
            self.join_part().await?;
        }
        let payload = self.take_gathered().await?;
        let permit = self.place_in_memory.take();
        let mut parts = if let Some(parts) = self.parts.take() {
            parts
        } else {
            self.place.prepare(&self.key).await?;
            within(&*self.place, 0, self.place.begin_parts(&self.location)).await?
        };
        let (place, bytes) = (self.place.clone(), payload.content_length() as u64);
        let part = parts.put_part(payload);
        self.parts = Some(parts);
        self.running.spawn(async move {
            let sent = within(&*place, bytes, part).await;
            drop(permit);
            sent
        });
        self.unsettled += bytes;
        if self.unsettled >= SETTLED_EVERY && self.settling.as_ref().is_none_or(JoinHandle::is_finished) {
            self.unsettled = 0;
            self.settling = self.place.settle(&self.key);
        }
        Ok(())
    }

    async fn join_part(&mut self) -> object_store::Result<()> {
        match self.running.join_next().await {
            Some(part) => part?,
            None => Ok(()),
        }
    }

    async fn publish(&mut self) -> object_store::Result<Sha1Checksum> {
        if self.parts.is_none() {
            self.place.prepare(&self.key).await?;
            self.publishing = true;
            let payload = self.take_gathered().await?;
            let put = self.place.objects().put(&self.location, payload);
            within(&*self.place, self.size, put).await?;
            return Ok(self.digest.finish().await?);
        }
        self.send_part().await?;
        while !self.running.is_empty() {
            self.join_part().await?;
        }
        if let Some(parts) = &mut self.parts {
            self.publishing = true;
            within(&*self.place, self.size / JOINING_SPEED, parts.complete()).await?;
        }
        Ok(self.digest.finish().await?)
    }

    /// Removes what was written, with patience: a store that fails just now may work in a minute.
    async fn remove(mut self) {
        // Parts that arrived after the rest was given up would stay, and a server may go on with one whose
        // request was broken off. So those under way come to their end, if they do soon.
        let under_way = async { while self.running.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(PARTS_WAIT, under_way).await;
        self.running.shutdown().await;
        self.gathered = PutPayloadMut::new();
        self.place_in_memory = None;
        for pause in std::iter::once(&Duration::ZERO).chain(self.place.manner().removal_pauses) {
            tokio::time::sleep(*pause).await;
            match self.try_remove().await {
                Ok(()) => return,
                Err(error) => {
                    let error = store_error(action("remove the rest of", &self.key), self.place.name(), &error);
                    tracing::warn!(error = spelled_out(&error), "an unfinished upload is not removed yet");
                }
            }
        }
    }

    async fn try_remove(&mut self) -> object_store::Result<()> {
        if let Some(parts) = &mut self.parts {
            within(&*self.place, 0, self.place.abort_parts(&self.key, parts)).await?;
        }
        if self.publishing {
            within(&*self.place, 0, self.place.discard(&self.key)).await?;
        }
        Ok(())
    }
}
