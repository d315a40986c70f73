//! Refusals that are kept for a while, so that a support engineer finds out why a client was refused.

mod explanation;
mod model;
mod repository;
mod sampler;
mod service;

pub use explanation::{Explanation, explanation};
pub use model::{
    CredentialKind, KEPT_FOR, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, METHOD_NOT_ALLOWED, NewRefusal, Owner, PATH_UNKNOWN,
    ReasonCount, RefusalCursor, Refused, RefusedComputer, is_recorded, recorded_codes,
};
pub use repository::{RefusalFilter, RefusalRepository};
pub use sampler::RefusalSampler;
pub use service::{OperatorRefusal, RefusalService};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockRefusalRepository;
