//! The port to timelines. It only reads.

use super::{Subject, TimelineCursor, TimelineEvent};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use async_trait::async_trait;

/// The number of former names of a computer or device under which log entries are found.
pub const FORMER_NAMES: usize = 50;

/// Reads the events of computers and devices (decision I12).
///
/// A fetch MUST NOT show the name of a resource of another organization that no publisher publishes any more (decisions
/// P8 and T15).
///
/// A timeline has the log entries of the computer or device, also those that were received under a former name. Those
/// under names before the last [`FORMER_NAMES`] may be left out.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait TimelineRepository: Send + Sync + 'static {
    /// The last `limit` events before `before`, newest first, in the order of their cursors; none if the organization
    /// has no such computer or device. Texts are cut, so that memory depends on `limit` only.
    async fn page(
        &self,
        organization: OrganizationId,
        subject: Subject,
        before: Option<TimelineCursor>,
        limit: u32,
    ) -> Result<Vec<TimelineEvent>, StoreError>;
}
