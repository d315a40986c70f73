//! Time and fresh identifiers, passed in so that every rule can be tested.

use crate::timestamp::Timestamp;
use uuid::Uuid;

/// The current time.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
pub trait Clock: Send + Sync + 'static {
    /// Now, in UTC, to the microsecond.
    fn now(&self) -> Timestamp;
}

/// Fresh identifiers and secrets.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
pub trait IdSource: Send + Sync + 'static {
    /// A GUID that no other call returns.
    fn guid(&self) -> Uuid;
    /// 32 bytes from a cryptographically secure source, for a new `MisKey`.
    fn secret(&self) -> [u8; 32];
}
