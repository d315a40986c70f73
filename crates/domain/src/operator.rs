//! Operators: the people who run Platen or look after one organization (decisions P1, P2, P8).
//!
//! Clients of the interface are [`crate::caller::Caller`]s; they never reach this.

mod actor;
mod error;
mod model;
mod organizations;
mod password;
mod repository;
mod service;
mod setup;

pub use actor::{Actor, SignedIn, SignedInBy};
pub use error::OperatorError;
pub use model::{NewOperator, Operator, OperatorId, OperatorName, Role, Scope, TokenId};
pub use organizations::OrganizationList;
pub use password::{MIN_PASSWORD_LENGTH, NewPassword, Password, PasswordHash, PasswordHasher};
pub use repository::{AddOutcome, FoundOperator, OperatorRepository, SetupRepository};
pub use service::{AddOperator, OperatorService};
pub use setup::{SETUP_CODE_LIFETIME, SetupService};

#[cfg(any(test, feature = "test-support"))]
pub use {
    password::MockPasswordHasher,
    repository::{MockOperatorRepository, MockSetupRepository},
};
