//! The last status of each printing device (interface 2.8 and 4.10).

mod model;
mod repository;

pub use model::{ConnectionState, DeviceStatus, QueueLength, RemainingInk, Status};
pub use repository::DeviceStatusRepository;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockDeviceStatusRepository;
