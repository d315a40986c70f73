//! The records of an organization.

use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use std::fmt;

/// A record of an organization.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FleetRecord {
    User(String),
    Computer(ComputerGuid),
    Device(DeviceGuid),
    Queue(QueueGuid),
    Job(JobGuid),
}

impl fmt::Display for FleetRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(out, "user \"{name}\""),
            Self::Computer(guid) => write!(out, "computer {guid}"),
            Self::Device(guid) => write!(out, "device {guid}"),
            Self::Queue(guid) => write!(out, "queue {guid}"),
            Self::Job(guid) => write!(out, "job {guid}"),
        }
    }
}
