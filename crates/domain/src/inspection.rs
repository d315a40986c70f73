//! What is stored, as the operator sees it: of one organization or of all.
//!
//! Clients never reach this. Their ports take the organization of the caller; here the operator chooses.

mod model;
mod repository;

pub use model::{
    CrashReportFilter, DeviceCount, InspectedComputer, InspectedCrashReport, InspectedDevice, InspectedLogEntry,
    LastSeen, PartsTotal, RegisteredOrganization,
};
pub use repository::{InspectionRepository, LogFollower};

#[cfg(any(test, feature = "test-support"))]
pub use repository::{MockInspectionRepository, MockLogFollower};
