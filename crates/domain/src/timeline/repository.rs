//! The port to timelines. It only reads.

use super::{Subject, TimelineCursor, TimelineEvent};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use async_trait::async_trait;

/// What happened to computers and devices (decision I12).
///
/// Log entries count that were sent under the present name of the computer or for the present name of the device.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait TimelineRepository: Send + Sync + 'static {
    /// The last `limit` events of a computer or device of the organization that come before `before`, newest first:
    /// ordered by their cursors. Texts are cut, so that memory depends on `limit` only. Of a subject that the
    /// organization doesn't have there are none.
    async fn page(
        &self,
        organization: OrganizationId,
        subject: Subject,
        before: Option<TimelineCursor>,
        limit: u32,
    ) -> Result<Vec<TimelineEvent>, StoreError>;
}
