//! The last request of each computer and user, and the content of each resource that they fetched last
//! (decisions I8 and I9).

mod model;
mod recorder;
mod repository;

pub use model::{
    ComputerFetch, Currency, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey, SERIAL_NUMBERS_PER_USER,
    Sender, UserActivity, UserFetch,
};
pub use recorder::ActivityRecorder;
pub use repository::ActivityRepository;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockActivityRepository;
