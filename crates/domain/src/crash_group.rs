//! Groups of crash reports: one for each organization, application and signature (decision I5).

mod change;
mod list;
mod model;
mod repository;
mod service;
mod version;

pub use change::{GroupVersion, StateChange};
pub use list::{DailyReports, GroupCursor, GroupFilter, GroupSort};
pub use model::{CrashGroup, CrashGroupDetails, CrashGroupId, GroupState, Tally, TallyKind};
pub use repository::CrashGroupRepository;
pub use service::{CrashGroupService, DAYS, FoundGroup, ListedGroup, TALLIES};
pub use version::is_later;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockCrashGroupRepository;
