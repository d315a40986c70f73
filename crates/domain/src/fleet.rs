//! The fleet: organizations, their users, computers, devices, queues and jobs (decisions O1–O3).

mod applied;
#[cfg_attr(
    any(test, feature = "test-support"),
    expect(clippy::struct_field_names, reason = "the mock has one field for each method, all of which find something")
)]
mod directory;
mod fields;
mod file;
mod keys;
mod model;
mod preview;
mod registry;
mod service;
mod similar_name;

pub use applied::{Applied, NewKey};
pub use directory::FleetDirectory;
pub use file::{FleetFileError, read_fleet};
pub use keys::{MIN_KEY_LENGTH, Secret};
pub use model::{Computer, Device, Fleet, FleetOrganization, Job, Queue, User};
pub use preview::{Changes, Preview};
pub use registry::{FleetConflict, FleetRegistry, KeyRevocation, RegistryError};
pub use service::FleetService;
pub use similar_name::SimilarName;

#[cfg(any(test, feature = "test-support"))]
pub use {directory::MockFleetDirectory, registry::MockFleetRegistry};
