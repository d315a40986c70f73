//! Things that a gauge counts while they exist.

use crate::GaugeHandle;

/// Adds one to a gauge until it is dropped.
pub struct Counted(GaugeHandle);

impl Counted {
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
