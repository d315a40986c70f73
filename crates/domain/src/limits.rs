//! The bounds that an operator sets (configuration section `limits`).

use std::time::Duration;

/// Sizes are in bytes and count decoded content (decision R10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The file of a resource.
    pub max_resource_size: u64,
    /// All parts of a crash report together.
    pub max_crash_report_size: u64,
    /// JSON bodies and JSON parts.
    pub max_json_size: u64,
    /// How far a Timestamp may lie ahead of our clock; `None` for no bound (decision T4).
    pub max_timestamp_ahead: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            max_resource_size: 2048 * MIB,
            max_crash_report_size: 512 * MIB,
            max_json_size: MIB,
            max_timestamp_ahead: None,
        }
    }
}
