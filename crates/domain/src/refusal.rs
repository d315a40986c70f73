//! Refusals that are kept for a while, so that a support engineer finds out why a client was refused.

mod model;
mod repository;
mod sampler;

pub use model::{CredentialKind, KEPT_FOR, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, Refused, is_recorded};
pub use repository::{RefusalFilter, RefusalRepository};
pub use sampler::RefusalSampler;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockRefusalRepository;
