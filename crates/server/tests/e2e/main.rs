//! End-to-end tests: the real program, started in a folder of its own.

#[path = "../support/mod.rs"]
mod support;

mod bounds;
mod commands;
mod durability;
mod serving;
