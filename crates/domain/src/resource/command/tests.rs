//! What a resource command says, or why it is refused.

mod description;
mod look_ups;
