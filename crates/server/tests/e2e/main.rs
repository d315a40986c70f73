//! End-to-end tests on the defaults: the real program, started in a folder of its own, and the tests of every
//! message over its adapters.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::print_stderr, reason = "figures that were measured are shown")]

#[path = "../support/mod.rs"]
mod support;

const SETUP: support::setup::Setup = support::setup::Setup::Defaults;

// What the tests of the messages run over.
use support::adapters::open;

mod abuse;
mod administration;
mod bounds;
mod commands;
mod defaults;
mod demo;
mod draining;
mod durability;
mod hostile;
mod isolation;
mod looking;
#[path = "../../../http-actix/tests/messages/mod.rs"]
mod messages;
mod operators;
mod retention;
mod secrets;
mod serving;
mod starts;
mod tls;
mod upkeep;
mod watching;
