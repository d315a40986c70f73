//! What a log command says, or why it is refused.

mod filters;
mod submissions;
