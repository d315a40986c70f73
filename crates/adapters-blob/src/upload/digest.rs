//! The SHA1 of an upload, computed beside the writing on a thread that may be busy for long.

use domain::checksum::{ContentHasher, Sha1Checksum};
use object_store::PutPayload;
use std::mem;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

/// Less is hashed where it is: that takes less time than the change to another thread.
const HASHED_IN_PLACE: usize = 32 * 1024;

/// A sum that is being computed; at most one piece at a time is on its way.
pub(super) enum Digest {
    Idle(ContentHasher),
    Busy(JoinHandle<ContentHasher>),
}

impl Digest {
    pub(super) fn new() -> Self {
        Self::Idle(ContentHasher::new())
    }

    /// Takes up the next piece, once the one before is done.
    pub(super) async fn take_up(&mut self, piece: &PutPayload) -> Result<(), JoinError> {
        let mut hasher = self.settled().await?;
        if piece.content_length() <= HASHED_IN_PLACE {
            take_all(&mut hasher, piece);
            *self = Self::Idle(hasher);
            return Ok(());
        }
        let piece = piece.clone();
        *self = Self::Busy(spawn_blocking(move || {
            take_all(&mut hasher, &piece);
            hasher
        }));
        Ok(())
    }

    /// The sum of all pieces.
    pub(super) async fn finish(&mut self) -> Result<Sha1Checksum, JoinError> {
        Ok(self.settled().await?.finish())
    }

    async fn settled(&mut self) -> Result<ContentHasher, JoinError> {
        match mem::replace(self, Self::new()) {
            Self::Idle(hasher) => Ok(hasher),
            Self::Busy(hashing) => hashing.await,
        }
    }
}

fn take_all(hasher: &mut ContentHasher, piece: &PutPayload) {
    for bytes in piece {
        hasher.update(bytes);
    }
}
