//! What admitted requests say about their callers: when computers and users were last seen, and who has which content
//! (decisions I8 and I9).

mod model;
mod recorder;
mod repository;

pub use model::{
    ComputerFetch, Currency, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey, Sender, UserActivity, UserFetch,
};
pub use recorder::ActivityRecorder;
pub use repository::ActivityRepository;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockActivityRepository;
