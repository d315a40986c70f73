//! From credentials to a [`crate::caller::Caller`] (interface part 5, decisions A1–A9).

mod credentials;
mod directory;
mod key_uses;
mod service;
mod throttle;

pub(crate) use credentials::reads_as_itself;
pub use credentials::{CredentialDigest, SentCredentials};
pub use directory::{CredentialDirectory, KeyHolder, RegisteredComputer};
pub use key_uses::KeyUses;
pub use service::{AccessService, AuthenticationFailure, ClaimedComputer, CredentialMessages};
pub use throttle::{Throttle, network as client_network};

#[cfg(any(test, feature = "test-support"))]
pub use directory::MockCredentialDirectory;
