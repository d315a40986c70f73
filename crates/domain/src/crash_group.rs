//! Groups of crash reports: one for each organization, application and signature (decision I5).

mod model;
mod repository;
mod version;

pub use model::{
    CrashGroup, CrashGroupDetails, CrashGroupId, GroupCursor, GroupFilter, GroupState, StateChange, Tally, TallyKind,
};
pub use repository::CrashGroupRepository;
pub use version::is_later;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashGroupRepository;
