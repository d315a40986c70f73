//! What is kept of the past of a device: changes of its state, samples of its measured values, and the forecast that
//! follows from them (decisions I1 and I2).

mod forecast;
mod model;
mod repository;

pub use forecast::{InkForecast, InkUsage};
pub use model::{DeviceSample, Period, SAMPLE_EVERY, StateChange, Thinning};
pub use repository::DeviceHistoryRepository;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockDeviceHistoryRepository;
