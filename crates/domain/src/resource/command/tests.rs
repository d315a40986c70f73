//! JSON bodies of the resource operations: what they ask for, or why they are refused.

mod description;
mod look_ups;
