//! Reads the workspace as text. The tests under `tests/` hold what no compiler checks, and the
//! program `tidy` prints what the crates measure.

#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a file that can't be read is a failed test")]

pub mod circles;
pub mod product;
pub mod workspace;
