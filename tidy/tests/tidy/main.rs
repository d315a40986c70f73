//! The tests that hold the shape of the workspace.

#![expect(clippy::unwrap_used, reason = "a file that can't be read is a failed test")]

mod changelog;
mod container;
mod decisions;
mod documents;
mod edges;
mod examples;
mod keys;
mod locks;
mod metrics;
mod sources;
mod tour;
