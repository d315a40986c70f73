//! The list of Platen's metrics, and the only way to record them.
//!
//! A metric is a constant of the [`catalog`]; its type says its kind and how many labels it has:
//!
//! ```
//! metering::catalog::REFUSALS.with(["Acme Print", "resource_not_found"]).increment(1);
//! ```
//!
//! `with` looks the metric up in the recorder. Code that records often keeps the handle that it returns.

pub mod catalog;
mod counted;
mod kinds;

pub use catalog::ALL;
pub use counted::Counted;
pub use kinds::{Counter, Gauge, Histogram, Kind, Metric};
pub use metrics::{Counter as CounterHandle, Gauge as GaugeHandle, Histogram as HistogramHandle};

/// Gives the installed recorder the help text and the unit of each metric.
pub fn describe() {
    for metric in ALL {
        metric.describe();
    }
}
