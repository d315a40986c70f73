//! An upload into a backend (ADR 27): its content is hashed as it arrives, cut into parts, and sent
//! while more is received.

use crate::backend::{Backend, UnfinishedUpload, location, with_timeout};
use crate::error::{in_one_line, store_error};
use crate::metrics::UploadTimer;
use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobKey, BlobWriter};
use domain::checksum::{ContentHasher, Sha1Checksum};
use domain::error::StoreError;
use object_store::{ObjectStoreExt, PutPayload, PutPayloadMut};
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Shorter pieces are copied together: each would keep the buffer alive that it was received in.
const COPIED_BELOW: usize = 4096;

/// Bytes that an upload may gather without a part slot, so that small blobs never wait for large ones.
const WITHOUT_SLOT: usize = 64 * 1024;

/// The timeout of the request that joins parts assumes that the server joins this many times faster than it receives.
const JOINING_SPEED: u64 = 128;

/// How long the removal of an upload waits for its parts in flight.
const PARTS_WAIT: Duration = Duration::from_secs(1);

/// How long the caller of a failed upload waits for its removal, which then goes on by itself.
const REMOVAL_WAIT: Duration = Duration::from_millis(250);

/// The caller's side of an upload. Dropped before `finish`, it removes what was written.
pub(crate) struct UploadWriter {
    /// `None` after the end or the first failure.
    upload: Option<Upload>,
    timer: UploadTimer,
}

impl UploadWriter {
    pub(crate) fn new(backend: Arc<dyn Backend>, key: BlobKey) -> Self {
        Self { upload: Some(Upload::new(backend, key)), timer: UploadTimer::start() }
    }
}

fn already_ended() -> StoreError {
    StoreError::other("this upload has failed or ended before")
}

#[async_trait]
impl BlobWriter for UploadWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let upload = self.upload.as_mut().ok_or_else(already_ended)?;
        let Err(error) = upload.write(bytes).await else { return Ok(()) };
        let failure = Err(upload.error("write", &error));
        self.timer.stop(&failure);
        self.abort().await?;
        failure
    }

    async fn finish(&mut self) -> Result<Sha1Checksum, StoreError> {
        let mut upload = self.upload.take().ok_or_else(already_ended)?;
        let (sender, outcome) = oneshot::channel();
        // In a task, so that a caller that goes away never stops it between two steps.
        tokio::spawn(async move {
            let result = upload.publish().await.map_err(|error| upload.error("write", &error));
            match result {
                // If the receiver of the checksum is gone, no record will refer to the blob.
                Ok(checksum) => {
                    if sender.send(Ok(checksum)).is_err() {
                        upload.remove().await;
                    }
                }
                Err(error) => {
                    upload.remove_soon().await;
                    drop(sender.send(Err(error)));
                }
            }
        });
        let result = outcome.await.unwrap_or_else(|_| Err(StoreError::other("the upload was stopped")));
        self.timer.stop(&result);
        result
    }

    async fn abort(&mut self) -> Result<(), StoreError> {
        if let Some(upload) = self.upload.take() {
            upload.remove_soon().await;
        }
        Ok(())
    }
}

impl Drop for UploadWriter {
    fn drop(&mut self) {
        if let (Some(upload), Ok(runtime)) = (self.upload.take(), Handle::try_current()) {
            runtime.spawn(upload.remove());
        }
    }
}

struct Upload {
    backend: Arc<dyn Backend>,
    hasher: ContentHasher,
    /// Bytes received.
    size: u64,
    /// The part that is being gathered.
    part: PutPayloadMut,
    /// The memory of that part, where the backend limits it.
    part_slot: Option<OwnedSemaphorePermit>,
    parts_in_flight: JoinSet<object_store::Result<()>>,
    unfinished: UnfinishedUpload,
}

impl Upload {
    fn new(backend: Arc<dyn Backend>, key: BlobKey) -> Self {
        Self {
            backend,
            hasher: ContentHasher::new(),
            size: 0,
            part: PutPayloadMut::new(),
            part_slot: None,
            parts_in_flight: JoinSet::new(),
            unfinished: UnfinishedUpload { key, parts: None, is_published: false },
        }
    }

    fn error(&self, verb: &str, error: &object_store::Error) -> StoreError {
        store_error(format_args!("{verb} blob {}", self.unfinished.key), self.backend.name(), error)
    }

    /// Sends a full part only when more follows, so that a blob of exactly one part takes one step.
    async fn write(&mut self, mut bytes: Bytes) -> object_store::Result<()> {
        self.hasher.update(&bytes);
        self.size += bytes.len() as u64;
        let part_size = self.backend.upload_limits().part_size;
        while !bytes.is_empty() {
            if self.part.content_length() == part_size {
                self.send_part().await?;
            }
            let piece = bytes.split_to(bytes.len().min(part_size - self.part.content_length()));
            if self.part.content_length() + piece.len() > WITHOUT_SLOT {
                self.wait_for_slot().await;
            }
            if piece.len() < COPIED_BELOW {
                self.part.extend_from_slice(&piece);
            } else {
                self.part.push(piece);
            }
        }
        Ok(())
    }

    /// Waits for the memory of a part. An upload that waits holds only the slots of its parts in flight, which end by
    /// themselves, so no upload waits for ever.
    async fn wait_for_slot(&mut self) {
        if let (None, Some(slots)) = (&self.part_slot, &self.backend.upload_limits().part_slots) {
            self.part_slot = Arc::clone(slots).acquire_owned().await.ok();
        }
    }

    async fn send_part(&mut self) -> object_store::Result<()> {
        while self.parts_in_flight.len() >= self.backend.upload_limits().parts_in_flight {
            self.join_part().await?;
        }
        if self.unfinished.parts.is_none() {
            let begun = with_timeout(&*self.backend, 0, self.backend.begin_parts(&self.unfinished.key)).await?;
            self.unfinished.parts = Some(begun);
        }
        let part = PutPayload::from(mem::take(&mut self.part));
        let (backend, slot, size) = (Arc::clone(&self.backend), self.part_slot.take(), part.content_length() as u64);
        if let Some(parts) = &mut self.unfinished.parts {
            let sending = parts.put_part(part);
            self.parts_in_flight.spawn(async move {
                let sent = with_timeout(&*backend, size, sending).await;
                drop(slot);
                sent
            });
        }
        Ok(())
    }

    async fn join_part(&mut self) -> object_store::Result<()> {
        match self.parts_in_flight.join_next().await {
            Some(sent) => sent?,
            None => Ok(()),
        }
    }

    async fn publish(&mut self) -> object_store::Result<Sha1Checksum> {
        if self.unfinished.parts.is_none() {
            self.unfinished.is_published = true;
            let (location, content) = (location(&self.unfinished.key), PutPayload::from(mem::take(&mut self.part)));
            with_timeout(&*self.backend, self.size, self.backend.objects().put(&location, content)).await?;
        } else {
            self.send_part().await?;
            while !self.parts_in_flight.is_empty() {
                self.join_part().await?;
            }
            if let Some(parts) = &mut self.unfinished.parts {
                self.unfinished.is_published = true;
                with_timeout(&*self.backend, self.size / JOINING_SPEED, parts.complete()).await?;
            }
        }
        Ok(mem::replace(&mut self.hasher, ContentHasher::new()).finish())
    }

    /// Removes what was written. After [`REMOVAL_WAIT`] it returns, and the removal goes on in the background.
    async fn remove_soon(self) {
        drop(timeout(REMOVAL_WAIT, tokio::spawn(self.remove())).await);
    }

    async fn remove(mut self) {
        if self.unfinished.parts.is_none() && !self.unfinished.is_published {
            return;
        }
        // A part that arrives after the others were removed would stay, so parts in flight come to their end first.
        drop(timeout(PARTS_WAIT, async { while self.parts_in_flight.join_next().await.is_some() {} }).await);
        self.parts_in_flight.shutdown().await;
        drop((mem::take(&mut self.part), self.part_slot.take()));
        let mut pauses = self.backend.removal_retries().iter();
        while let Err(error) = with_timeout(&*self.backend, 0, self.backend.remove_upload(&mut self.unfinished)).await {
            let error = self.error("remove the rest of", &error);
            tracing::warn!(error = in_one_line(&error), "an unfinished upload is not removed yet");
            let Some(pause) = pauses.next() else { return };
            sleep(*pause).await;
        }
    }
}
