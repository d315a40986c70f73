//! The child process: reads a dump from its input and writes the facts to its output.

use crate::facts::facts;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{self, Read, Write};

/// Limit for the address space in bytes (decision I6).
const MAX_MEMORY: u64 = 512 * 1024 * 1024;

/// Limit for the processor time in seconds (decision I6). The parent limits the elapsed time.
const MAX_SECONDS: u64 = 10;

/// Limits this process, reads a dump from `input` and writes JSON to `output`: `{"Ok": facts}`, or `{"Err": sentence}`
/// about why there are no facts. Must be called before the process has other threads.
///
/// # Errors
/// The limits can't be set, or input or output fails.
pub fn run_child(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    // What a hostile dump ends leaves no core file.
    setrlimit(Resource::Core, limit(0))?;
    setrlimit(Resource::As, limit(MAX_MEMORY))?;
    setrlimit(Resource::Cpu, limit(MAX_SECONDS))?;
    let mut dump = Vec::new();
    input.read_to_end(&mut dump)?;
    serde_json::to_writer(&mut output, &facts(&dump))?;
    output.flush()
}
