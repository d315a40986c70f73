//! What is particular to databases: opening and migrating them, several processes at once, commits of
//! many requests, and what happens when a database goes away.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod group_commit;
mod opening;
mod outages;
mod overload;
mod processes;

#[path = "../support/mod.rs"]
mod support;
