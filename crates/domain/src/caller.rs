//! The caller of a request (interface part 5).

use crate::guid::ComputerGuid;

/// The number of an organization in the database. Every port method that is bound to an
/// organization takes it first, so that no data of another one can be reached by forgetting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrganizationId(pub i64);

/// An authenticated caller: every use case demands one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub organization: OrganizationId,
    /// The organization's name, for logs.
    pub organization_name: String,
    /// The user whose `MisKey` was sent.
    pub user: Option<String>,
    /// The computer whose `HardwareHash` was sent.
    pub computer: Option<CallingComputer>,
    /// The `SerialNumber` header as sent (decision A8).
    pub serial_number: String,
    /// The `ApplicationVersion` header, at most 64 characters (decision A7).
    pub application_version: String,
}

/// The registered computer that calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingComputer {
    pub guid: ComputerGuid,
    pub name: String,
    /// The user to whom the computer is assigned.
    pub user: Option<String>,
}

impl Caller {
    /// The name that log entries give as User: the calling user, else the user to whom the calling
    /// computer is assigned, else empty (decision L4).
    #[must_use]
    pub fn user_name(&self) -> &str {
        let assigned = || self.computer.as_ref().and_then(|computer| computer.user.as_deref());
        self.user.as_deref().or_else(assigned).unwrap_or_default()
    }
}
