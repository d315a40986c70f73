//! Refusals that are kept for a while, so that a support engineer finds out why a client was refused.

mod model;
mod repository;
mod sampler;

pub use model::{
    CredentialKind, KEPT_FOR, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, METHOD_NOT_ALLOWED, NewRefusal, Owner, PATH_UNKNOWN,
    Refused, is_recorded, recorded_codes,
};
pub use repository::{RefusalFilter, RefusalRepository};
pub use sampler::RefusalSampler;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockRefusalRepository;
