//! Timelines: the events of a computer or a device, ordered by time (decision I12).

mod model;
mod repository;

pub use model::{EventId, Subject, TimelineCursor, TimelineDetails, TimelineEvent};
pub use repository::{FORMER_NAMES, TimelineRepository};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockTimelineRepository;
