//! Copies of contents that are on their way to readers, and the room for them.

use bytes::Bytes;
use domain::blob::BlobKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of one copy at most.
pub(super) const LARGEST: usize = 4 * 1024 * 1024;

/// Bytes of all copies at once: 32 MiB that are kept, and 8 MiB for those that are being made and for those that are kept
/// no more but still on their way to slow readers.
pub(super) const ROOM: usize = 40 * 1024 * 1024;

/// Readers of one content that copy it at once. If all did, they would take the room from each other; if only one did,
/// and it were slow, nobody else would be served from memory until it is done.
pub(super) const READERS: usize = 2;

/// All copies that there are. Memory has a bound, however many readers there are: a copy for which there is no room isn't
/// made, and its reader doesn't notice.
pub(super) struct Copies {
    room: Arc<Semaphore>,
    /// How many readers are copying which content.
    readers: Mutex<HashMap<BlobKey, usize>>,
}

impl Default for Copies {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(ROOM)), readers: Mutex::default() }
    }
}

impl Copies {
    /// Begins a copy, unless there are readers enough that copy this content.
    pub(super) fn begin(self: &Arc<Self>, key: &BlobKey) -> Option<Copying> {
        let room = self.take(0)?;
        let mut readers = self.readers();
        let count = readers.entry(key.clone()).or_default();
        if *count == READERS {
            return None;
        }
        *count += 1;
        Some(Copying { bytes: Vec::new(), room, turn: Turn { key: key.clone(), copies: Arc::clone(self) } })
    }

    /// A copy of a content that has come already.
    pub(super) fn of(&self, pieces: &[Bytes]) -> Option<Bytes> {
        let room = self.take(pieces.iter().map(Bytes::len).sum())?;
        Some(Bytes::from_owner(Whole { bytes: pieces.concat(), _room: room }))
    }

    fn readers(&self) -> MutexGuard<'_, HashMap<BlobKey, usize>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for so many bytes.
    pub(super) fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_many_owned(u32::try_from(bytes).ok()?).ok()
    }

    /// Bytes for which there is room.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.room.available_permits()
    }
}

/// The place of a reader among those that copy the same content.
struct Turn {
    key: BlobKey,
    copies: Arc<Copies>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut readers = self.copies.readers();
        if let Some(count) = readers.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&self.key);
            }
        }
    }
}

/// A copy of what has gone by of a content. Dropped, it gives its room back.
pub(super) struct Copying {
    bytes: Vec<u8>,
    /// For the capacity of `bytes`.
    room: OwnedSemaphorePermit,
    turn: Turn,
}

impl Copying {
    /// Adds a piece, if the copy doesn't become too large and there is room.
    pub(super) fn with(mut self, piece: &[u8]) -> Option<Self> {
        let size = self.bytes.len() + piece.len();
        if size > LARGEST {
            return None;
        }
        let capacity = self.bytes.capacity();
        if size > capacity {
            // To the double, so that growing copies no byte more than once or twice.
            let wanted = size.max(2 * capacity).min(LARGEST);
            let more = self.turn.copies.take(wanted - capacity)?;
            self.room.merge(more);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
        Some(self)
    }

    /// The whole, whose room is given back when the last reader has dropped it.
    pub(super) fn into_bytes(self) -> Bytes {
        let Self { mut bytes, mut room, .. } = self;
        let spare = bytes.capacity() - bytes.len();
        bytes.shrink_to_fit();
        // What was split off is given back at once.
        drop(room.split(spare));
        Bytes::from_owner(Whole { bytes, _room: room })
    }
}

/// A copy that is whole, as long as anybody holds it.
struct Whole {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
