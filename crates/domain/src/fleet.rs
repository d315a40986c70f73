//! The fleet: organizations, their users, computers, devices, queues and jobs (decisions O1–O3).

mod directory;
mod keys;
mod model;
mod registry;

pub use directory::FleetDirectory;
pub use keys::{MIN_KEY_LENGTH, Secret};
pub use model::{Computer, Device, Fleet, FleetOrganization, Job, Queue, User};
pub use registry::{Applied, FleetConflict, FleetRegistry, KeyRevocation, NewKey, RegistryError};

#[cfg(any(test, feature = "test-support"))]
pub use {directory::MockFleetDirectory, registry::MockFleetRegistry};
