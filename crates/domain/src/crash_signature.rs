//! What reports of the same fault have in common (decision I4).

mod rules;
mod sign;
mod thread;

pub use sign::{ALGORITHM, Basis, ExplainedFrame, FrameRole, MAX_SIGNATURE, Signature, SignedFrame, sign};
pub use thread::sign_text;
