//! The figures of the console's first page.

mod model;
mod repository;
mod service;

pub use model::{DeviceFigures, HourFigure, Overview, ReasonFigure, UnsettledGroups};
pub use repository::OverviewRepository;
pub use service::OverviewService;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockOverviewRepository;
