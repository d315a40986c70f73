//! What is there for a while, counted by a gauge.

use crate::GaugeHandle;

/// One thing that is there, counted by a gauge until it is dropped.
pub struct Counted(GaugeHandle);

impl Counted {
    /// Counts one more.
    #[must_use]
    pub fn by(gauge: &GaugeHandle) -> Self {
        gauge.increment(1.0);
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}
