//! The operations of logs and crash reports (interface 4.7–4.9).

pub(crate) mod add;
pub(crate) mod crash_report;
pub(crate) mod list;
