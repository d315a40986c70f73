//! The last status of each printing device (interface 2.8 and 4.10).

mod command;
mod model;
mod repository;
mod service;
mod silence;

pub use command::{QueueLengthInput, RemainingInkInput, StatusInput, StatusValues, UpdateDeviceStatus};
pub use model::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
pub use repository::DeviceStatusRepository;
pub use service::DeviceStatusService;
pub use silence::{Reporting, SILENT_AFTER};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockDeviceStatusRepository;
