//! The metrics of Platen: the one list of them, and the handles by which the other crates record them.
//!
//! Nothing can be recorded that isn't in the [`catalog`]: its constants are the only way to a handle,
//! and no other crate but the one that installs the recorder uses `metrics` itself. A handle is looked
//! up once, when the thing that records is made, and costs one atomic step after that.

pub mod catalog;
mod counted;
mod family;
mod kinds;

pub use catalog::ALL;
pub use counted::Counted;
pub use family::Family;
pub use kinds::{Counter, Gauge, Histogram, Kind, Metric};
pub use metrics::{Counter as CounterHandle, Gauge as GaugeHandle, Histogram as HistogramHandle};

/// Tells the installed recorder what each metric counts and in which unit.
pub fn describe() {
    for metric in ALL {
        metric.describe();
    }
}
