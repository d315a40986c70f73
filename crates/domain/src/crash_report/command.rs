//! The typed command of a crash report.

use crate::text::storable;

/// Adds a crash report, whose parts follow as a body (interface 4.8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddCrashReport {
    pub(super) application_name: Option<String>,
    pub(super) os: Option<String>,
}

impl AddCrashReport {
    /// The headers ApplicationName and OS are kept as they were sent: no crash is lost over them (decision C3).
    #[must_use]
    pub fn new(application_name: Option<&str>, os: Option<&str>) -> Self {
        Self { application_name: application_name.map(storable), os: os.map(storable) }
    }
}
