//! What came in, as the operator looks at it: of one organization or of all.
//!
//! Clients reach nothing of this. Their ports take the organization of the caller and no other; here it is the
//! operator who says how much is looked at.

mod model;
mod repository;

pub use model::{
    CrashReportFilter, InspectedComputer, InspectedCrashReport, InspectedDevice, InspectedLogEntry, LastSeen,
    PartsTotal, RegisteredOrganization,
};
pub use repository::{InspectionRepository, LogFollower};

#[cfg(any(test, feature = "test-support"))]
pub use repository::{MockInspectionRepository, MockLogFollower};
