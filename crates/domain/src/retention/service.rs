//! The removal of what the policy no longer keeps, batch by batch.

#[cfg(test)]
mod tests;

use super::{RemovalCursor, RemovalOutcome, RetainedRecords, RetentionPolicy, RetentionRepository};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;

/// Removes old records, as the policy says.
pub struct RetentionService {
    repository: Arc<dyn RetentionRepository>,
    clock: Arc<dyn Clock>,
    policy: RetentionPolicy,
}

impl RetentionService {
    #[must_use]
    pub fn new(repository: Arc<dyn RetentionRepository>, clock: Arc<dyn Clock>, policy: RetentionPolicy) -> Self {
        Self { repository, clock, policy }
    }

    /// Begins to remove what is too old now.
    #[must_use]
    pub fn begin(&self) -> Round<'_> {
        let now = self.clock.now();
        let task = |kind| self.policy.of(kind).map(|age| Task { kind, before: now.minus(age), from: None });
        Round { service: self, tasks: RetainedRecords::ALL.into_iter().filter_map(task).collect() }
    }
}

/// One removal of all that was too old when it began. Who removes waits between its steps, so that others get
/// their turn; it may be dropped at any time.
pub struct Round<'a> {
    service: &'a RetentionService,
    tasks: VecDeque<Task>,
}

struct Task {
    kind: RetainedRecords,
    before: Timestamp,
    from: Option<RemovalCursor>,
}

impl Round<'_> {
    /// Removes a batch of `limit` records at most; says of what and how many, `None` at the end. Where another
    /// process is removing, the rest is left to it.
    ///
    /// # Errors
    /// A failure of the store. The round then goes on with the next kind; what is left of this one is for
    /// the next round.
    pub async fn step(&mut self, limit: u64) -> Result<Option<(RetainedRecords, u64)>, StoreError> {
        let Some(task) = self.tasks.pop_front() else {
            return Ok(None);
        };
        let Task { kind, before, from } = task;
        let repository = &self.service.repository;
        let removal = match kind {
            RetainedRecords::Logs => repository.remove_logs(before, from, limit).await?,
            RetainedRecords::CrashReports => {
                repository.remove_crash_reports(before, from, limit, self.service.clock.now()).await?
            }
            RetainedRecords::DeviceHistory => repository.prune_device_history(before, from, limit).await?,
        };
        match removal {
            RemovalOutcome::Elsewhere => {
                self.tasks.clear();
                Ok(None)
            }
            RemovalOutcome::Done { removed, rest } => {
                if rest.is_some() {
                    self.tasks.push_front(Task { kind, before, from: rest });
                }
                Ok(Some((kind, removed)))
            }
        }
    }
}
