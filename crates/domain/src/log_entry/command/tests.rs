//! JSON bodies of the log operations: what they say, or why they are refused.

mod filters;
mod submissions;
