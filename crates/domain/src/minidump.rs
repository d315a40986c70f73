//! The facts of a minidump, and the port to its reader (decision I6).

mod model;
mod reader;

pub use model::{DumpFacts, DumpModule, DumpThread, MAX_MODULES, MAX_THREADS, Place};
pub use reader::{DumpReader, DumpSource, UnreadDump};

#[cfg(any(test, feature = "test-support"))]
pub use reader::MockDumpReader;

/// The first bytes of every minidump.
pub const MAGIC: &[u8] = b"MDMP";
