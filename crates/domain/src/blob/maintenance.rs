//! Keeps blob store and database in step: sweeps what is discarded, finds what is missing.

#[cfg(test)]
mod tests;

use super::unsettled::UnsettledBlobs;
use super::{BlobEntry, BlobKey, BlobLedger, BlobReference, BlobStore};
use crate::checksum::{ContentHasher, Sha1Checksum};
use crate::clock::Clock;
use crate::error::StoreError;
use futures_util::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::time::Duration;

/// Most blobs of one round of the sweep or the check.
const BATCH: usize = 500;

/// Younger blobs that nothing refers to may belong to an upload under way.
const ORPHAN_AGE: Duration = Duration::from_hours(24);

/// Orphans that one sweep removes at most.
const MAX_ORPHANS: usize = 10_000;

/// The background work on blobs.
pub struct BlobMaintenance {
    unsettled: Arc<UnsettledBlobs>,
    blobs: Arc<dyn BlobStore>,
    ledger: Arc<dyn BlobLedger>,
    clock: Arc<dyn Clock>,
    grace: Duration,
}

/// What the sweep of orphans did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrphanSweep {
    Removed(u64),
    /// Nothing was removed: the database doesn't know most of the blobs, as if it were an old backup or a wrong one.
    Refused {
        orphans: u64,
        known: u64,
    },
}

/// Something that `blobs check` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A record's blob isn't there.
    Missing(BlobReference),
    /// A record's blob has another size or checksum, or breaks off.
    Damaged(BlobReference),
    /// A blob that no record refers to.
    Orphan { entry: BlobEntry, removed: bool },
}

/// The state of a record's blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlobState {
    Whole,
    Missing,
    Damaged,
}

/// What `blobs check` counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Records whose blob was compared.
    pub checked: u64,
    pub missing: u64,
    pub damaged: u64,
    pub orphans: u64,
    pub removed: u64,
}

impl BlobMaintenance {
    /// Discarded blobs stay for `grace`, so that downloads under way finish (decision T18).
    pub(super) fn new(
        unsettled: Arc<UnsettledBlobs>,
        blobs: Arc<dyn BlobStore>,
        ledger: Arc<dyn BlobLedger>,
        clock: Arc<dyn Clock>,
        grace: Duration,
    ) -> Self {
        Self { unsettled, blobs, ledger, clock, grace }
    }

    /// Settles the contents of failed uploads, then removes the blobs that were discarded longer than the grace period
    /// ago; says how many. Several processes may sweep at once: a discarded key is never used again.
    ///
    /// # Errors
    /// The first store failure. What could not be removed is tried again after all others.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let now = self.clock.now();
        self.unsettled.settle(&*self.ledger, now).await?;
        let (mut swept, mut failure) = (0, None);
        loop {
            let keys = self.ledger.discarded_before(now.minus(self.grace), BATCH as u64).await?;
            if keys.is_empty() {
                return failure.map_or(Ok(swept), Err);
            }
            // The record of an upload whose outcome was in doubt may have come late.
            let used = self.ledger.referenced(&keys).await?;
            let (mut done, unused): (Vec<BlobKey>, Vec<_>) = keys.into_iter().partition(|key| used.contains(key));
            let mut left = Vec::new();
            for key in unused {
                match self.blobs.delete(&key).await {
                    Ok(()) => {
                        swept += 1;
                        done.push(key);
                    }
                    Err(error) => {
                        failure = failure.or(Some(error));
                        left.push(key);
                    }
                }
            }
            if !left.is_empty() {
                // Those that can't be removed must not keep the younger ones.
                self.ledger.postpone(&left, now).await?;
            }
            if !done.is_empty() {
                self.ledger.forget(&done).await?;
            } else if let Some(failure) = failure {
                // The store removes nothing now.
                return Err(failure);
            }
        }
    }

    /// Removes the orphans that are older than 24 hours, unless they are more than the blobs that the database knows.
    ///
    /// # Errors
    /// The first store failure; what could not be removed stays for the next sweep.
    pub async fn sweep_orphans(&self) -> Result<OrphanSweep, StoreError> {
        let removable = self.clock.now().minus(ORPHAN_AGE);
        let (mut listed, mut orphans, mut found) = (0, 0, Vec::new());
        let mut chunks = self.blobs.list().chunks(BATCH);
        while let Some(chunk) = chunks.next().await {
            let chunk: Vec<BlobEntry> = chunk.into_iter().collect::<Result<_, _>>()?;
            listed += chunk.len() as u64;
            let unknown = self.unknown(chunk).await?;
            orphans += unknown.len() as u64;
            let old = unknown.into_iter().filter(|entry| entry.modified < removable).map(|entry| entry.key);
            found.extend(old.take(MAX_ORPHANS - found.len()));
        }
        let known = listed - orphans;
        if orphans > known && !found.is_empty() {
            return Ok(OrphanSweep::Refused { orphans, known });
        }
        let (mut removed, mut failure) = (0, None);
        for key in &found {
            match self.blobs.delete(key).await {
                Ok(()) => removed += 1,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(OrphanSweep::Removed(removed)), Err)
    }

    /// Compares database and blob store and passes each finding to `report`. With `repair`, orphans
    /// older than 24 hours are removed.
    ///
    /// # Errors
    /// The first store failure.
    pub async fn check(
        &self,
        repair: bool,
        mut report: impl FnMut(&Finding) + Send,
    ) -> Result<CheckReport, StoreError> {
        let mut counted = CheckReport::default();
        let mut references = self.ledger.references();
        while let Some(reference) = references.try_next().await? {
            counted.checked += 1;
            let state = self.state_of(&reference).await?;
            // The record may have been replaced, and its blob swept, since it was read.
            if state == BlobState::Whole || !self.is_current(&reference).await? {
                continue;
            }
            if state == BlobState::Missing {
                counted.missing += 1;
                report(&Finding::Missing(reference));
            } else {
                counted.damaged += 1;
                report(&Finding::Damaged(reference));
            }
        }
        let mut chunks = self.blobs.list().chunks(BATCH);
        while let Some(chunk) = chunks.next().await {
            for finding in self.orphans(chunk.into_iter().collect::<Result<_, _>>()?, repair).await? {
                counted.orphans += 1;
                counted.removed += u64::from(matches!(finding, Finding::Orphan { removed: true, .. }));
                report(&finding);
            }
        }
        Ok(counted)
    }

    async fn state_of(&self, reference: &BlobReference) -> Result<BlobState, StoreError> {
        match size_and_checksum(&*self.blobs, &reference.key).await {
            Ok(None) => Ok(BlobState::Missing),
            Ok(Some(found)) if found == (reference.size, reference.checksum) => Ok(BlobState::Whole),
            Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => Ok(BlobState::Damaged),
            // A store that fails says nothing about the blob.
            Err(error) => Err(error),
        }
    }

    /// Whether a record still refers to the blob of `reference`.
    async fn is_current(&self, reference: &BlobReference) -> Result<bool, StoreError> {
        Ok(!self.ledger.referenced(std::slice::from_ref(&reference.key)).await?.is_empty())
    }

    async fn orphans(&self, entries: Vec<BlobEntry>, repair: bool) -> Result<Vec<Finding>, StoreError> {
        let removable = self.clock.now().minus(ORPHAN_AGE);
        let mut findings = Vec::new();
        for entry in self.unknown(entries).await? {
            let removed = repair && entry.modified < removable;
            if removed {
                self.blobs.delete(&entry.key).await?;
            }
            findings.push(Finding::Orphan { entry, removed });
        }
        Ok(findings)
    }

    /// Those that the database doesn't know.
    async fn unknown(&self, mut entries: Vec<BlobEntry>) -> Result<Vec<BlobEntry>, StoreError> {
        let keys: Vec<BlobKey> = entries.iter().map(|entry| entry.key.clone()).collect();
        let known = self.ledger.known(&keys).await?;
        entries.retain(|entry| !known.contains(&entry.key));
        Ok(entries)
    }
}

/// Reads a blob through; `None` if there is no such blob.
pub(super) async fn size_and_checksum(
    blobs: &dyn BlobStore,
    key: &BlobKey,
) -> Result<Option<(u64, Sha1Checksum)>, StoreError> {
    let Some(mut content) = blobs.read(key, None).await? else {
        return Ok(None);
    };
    let mut hasher = ContentHasher::new();
    let mut size = 0;
    while let Some(bytes) = content.try_next().await? {
        hasher.update(&bytes);
        size += bytes.len() as u64;
    }
    Ok(Some((size, hasher.finish())))
}
