//! End-to-end tests: the real program, started in a folder of its own.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::print_stderr, reason = "figures that were measured are shown")]

#[path = "../support/mod.rs"]
mod support;

mod bounds;
mod commands;
mod draining;
mod durability;
mod serving;
mod upkeep;
