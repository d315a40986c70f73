//! The fleet: organizations, their users, computers, devices, queues and jobs (decisions O1–O3).

mod applied;
mod audited;
#[cfg_attr(
    any(test, feature = "test-support"),
    expect(clippy::struct_field_names, reason = "the mock has one field for each method, all of which find something")
)]
mod directory;
mod fields;
mod file;
mod key_registry;
mod keys;
mod model;
mod preview;
mod record;
mod record_registry;
mod registry;
mod service;
mod similar_name;

pub use applied::{Applied, NewKey};
pub use audited::FleetAuthor;
pub use directory::FleetDirectory;
pub use fields::parse_name;
pub use file::{FleetFileError, read_fleet};
pub use key_registry::{KeyFilter, KeyId, KeyIdPrefix, KeyRegistry, RegisteredKey};
pub use keys::{MIN_KEY_LENGTH, Secret};
pub use model::{Computer, Device, Fleet, FleetOrganization, Job, Queue, User};
pub use preview::{ChangedRecord, ChangedValue, Changes, Preview};
pub use record::FleetRecord;
pub use record_registry::RecordRegistry;
pub use registry::{FleetConflict, FleetRegistry, KeyRevocation, RegistryError};
pub use service::FleetService;
pub use similar_name::SimilarName;

#[cfg(any(test, feature = "test-support"))]
pub use {
    directory::MockFleetDirectory, key_registry::MockKeyRegistry, record_registry::MockRecordRegistry,
    registry::MockFleetRegistry,
};
