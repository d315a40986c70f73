//! The end-to-end tests of the defaults once more, on `PostgreSQL` and S3, and those that only this set-up has.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::print_stderr, reason = "figures that were measured are shown")]

#[path = "../support/mod.rs"]
mod support;

const SETUP: support::setup::Setup = support::setup::Setup::PostgresAndS3;

// What the tests of the messages run over.
use support::adapters::open;

#[path = "../e2e/bounds.rs"]
mod bounds;
#[path = "../e2e/commands.rs"]
mod commands;
mod copying;
#[path = "../e2e/draining.rs"]
mod draining;
#[path = "../e2e/durability.rs"]
mod durability;
#[path = "../e2e/hostile/bombs.rs"]
mod hostile_bombs;
#[path = "../e2e/hostile/cuts.rs"]
mod hostile_cuts;
#[path = "../e2e/isolation/mod.rs"]
mod isolation;
mod keys;
#[path = "../e2e/looking/mod.rs"]
mod looking;
#[path = "../../../http-actix/tests/messages/mod.rs"]
mod messages;
mod outages;
mod pooler;
mod processes;
#[path = "../e2e/retention.rs"]
mod retention;
#[path = "../e2e/secrets/mod.rs"]
mod secrets;
#[path = "../e2e/serving.rs"]
mod serving;
mod tls;
#[path = "../e2e/upkeep.rs"]
mod upkeep;
#[path = "../e2e/watching.rs"]
mod watching;
