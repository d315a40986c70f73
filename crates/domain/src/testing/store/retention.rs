//! The removal of old records in memory.

use super::InMemoryStore;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::retention::{RemovalCursor, RemovalOutcome, RetentionRepository};
use crate::timestamp::Timestamp;
use async_trait::async_trait;

#[async_trait]
impl RetentionRepository for InMemoryStore {
    async fn remove_logs(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
    ) -> Result<RemovalOutcome, StoreError> {
        let mut state = self.working()?;
        let (_, removal) = remove(&mut state.logs, |entry| entry.received, before, from, limit);
        Ok(removal)
    }

    async fn prune_device_history(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
    ) -> Result<RemovalOutcome, StoreError> {
        let mut state = self.working()?;
        let (_, removal) = remove(&mut state.device_history, |record| record.at, before, from, limit);
        Ok(removal)
    }

    async fn remove_crash_reports(
        &self,
        before: Timestamp,
        from: Option<RemovalCursor>,
        limit: u64,
        now: Timestamp,
    ) -> Result<RemovalOutcome, StoreError> {
        let mut state = self.working()?;
        let (reports, removal) = remove(&mut state.crash_reports, |report| report.received, before, from, limit);
        for report in reports {
            state.crash_groups.remove(report.id);
            for part in report.parts {
                state.discarded.entry(part.key).or_insert(now);
            }
        }
        Ok(removal)
    }
}

/// Removes at most `limit` old records from `records`, in the order of positions.
fn remove<T>(
    records: &mut Vec<(OrganizationId, T)>,
    received: impl Fn(&T) -> Timestamp,
    before: Timestamp,
    from: Option<RemovalCursor>,
    limit: u64,
) -> (Vec<T>, RemovalOutcome) {
    let place = |(organization, record): &(OrganizationId, T)| RemovalCursor {
        organization: *organization,
        received: received(record),
    };
    let is_old = |place: RemovalCursor| place.received < before && from.is_none_or(|from| place >= from);
    let mut old: Vec<(RemovalCursor, usize)> =
        records.iter().map(place).zip(0..).filter(|(place, _)| is_old(*place)).collect();
    old.sort_unstable();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let rest = old.get(limit).map(|(place, _)| *place);
    old.truncate(limit);
    let mut numbers: Vec<usize> = old.into_iter().map(|(_, number)| number).collect();
    numbers.sort_unstable();
    let removed: Vec<T> = numbers.into_iter().rev().map(|number| records.remove(number).1).collect();
    let done = RemovalOutcome::Done { removed: removed.len() as u64, rest };
    (removed, done)
}
