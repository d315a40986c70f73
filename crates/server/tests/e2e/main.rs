//! End-to-end tests: the real program on its defaults, started in a folder of its own.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::print_stderr, reason = "figures that were measured are shown")]

#[path = "../support/mod.rs"]
mod support;

const SETUP: support::setup::Setup = support::setup::Setup::Defaults;

mod bounds;
mod commands;
mod defaults;
mod draining;
mod durability;
mod isolation;
mod looking;
mod retention;
mod serving;
mod tls;
mod upkeep;
mod watching;
