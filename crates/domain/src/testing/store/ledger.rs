//! The ledger of blobs in memory.

use super::{InMemoryStore, State};
use crate::blob::{BlobKey, BlobLedger, BlobReference};
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use std::collections::HashSet;

#[async_trait]
impl BlobLedger for InMemoryStore {
    async fn discard(&self, keys: &[BlobKey], now: Timestamp) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for key in keys {
            state.discarded.entry(key.clone()).or_insert(now);
        }
        Ok(())
    }

    async fn discarded_before(&self, before: Timestamp, limit: u64) -> Result<Vec<BlobKey>, StoreError> {
        let state = self.working()?;
        let mut due: Vec<_> = state.discarded.iter().filter(|(_, discarded)| **discarded < before).collect();
        due.sort_by_key(|(key, discarded)| (**discarded, *key));
        due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(due.into_iter().map(|(key, _)| key.clone()).collect())
    }

    async fn postpone(&self, keys: &[BlobKey], now: Timestamp) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for key in keys {
            state.discarded.entry(key.clone()).and_modify(|discarded| *discarded = now);
        }
        Ok(())
    }

    async fn forget(&self, keys: &[BlobKey]) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for key in keys {
            state.discarded.remove(key);
        }
        Ok(())
    }

    async fn known(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError> {
        let state = self.working()?;
        let mut known: HashSet<BlobKey> = references(&state).into_iter().map(|reference| reference.key).collect();
        known.extend(state.discarded.keys().cloned());
        Ok(keys.iter().filter(|key| known.contains(key)).cloned().collect())
    }

    fn references(&self) -> BoxStream<'static, Result<BlobReference, StoreError>> {
        self.stream(references, |reference| reference)
    }

    async fn referenced(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError> {
        let referenced = references(&*self.working()?).into_iter().map(|reference| reference.key);
        Ok(referenced.filter(|key| keys.contains(key)).collect())
    }
}

fn references(state: &State) -> Vec<BlobReference> {
    let resources = state.resources.values().map(|resource| BlobReference {
        key: resource.content.key.clone(),
        size: resource.content.size,
        checksum: resource.checksum,
        owner: format!("resource {} of {}", resource.guid, state.fleet.organization_name(resource.organization)),
    });
    let parts = state.crash_reports.iter().flat_map(|(organization, report)| {
        let owner = format!("crash report {} of {}", report.id, state.fleet.organization_name(*organization));
        report.parts.iter().map(move |part| BlobReference {
            key: part.key.clone(),
            size: part.size,
            checksum: part.checksum,
            owner: owner.clone(),
        })
    });
    resources.chain(parts).collect()
}
