//! Platen's reader of minidumps over the crate `minidump`, without symbols (decision I6).
//!
//! A dump can ask its reader for gigabytes in a few bytes, and an allocation that fails ends a process. So a dump is read
//! by a child process with bounds of memory and time: [`ChildProcessReader`] starts the same program again, which calls
//! [`run_child`].

mod child;
mod facts;
mod process;

pub use child::run_child;
pub use facts::facts;
pub use process::{ChildProcessReader, SUBCOMMAND};
