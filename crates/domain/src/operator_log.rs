//! The log as operators see it: pages, whole lists, and what arrives.

mod service;

pub use service::{LogQuery, OperatorLogEntry, OperatorLogService, OrganizationNames};
