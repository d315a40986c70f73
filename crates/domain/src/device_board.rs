//! Devices as operators see them: lists by attention, and one device with its history and forecast.

mod forecast;
mod model;
mod repository;
mod service;

pub use forecast::{ForecastService, earliest};
pub use model::{
    Attention, BoardDevice, DeviceCursor, DeviceFilter, DeviceForecast, DeviceSort, DeviceTally, EMPTY_SOON, LOW_INK,
    Moment, lowest_ink,
};
pub use repository::DeviceBoardRepository;
pub use service::{DeviceBoardService, DeviceHistory, MAX_CHANGES, MAX_SAMPLES};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockDeviceBoardRepository;
