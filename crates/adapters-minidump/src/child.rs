//! The child process: it reads a dump from its input and writes the facts to its output.

use crate::facts::facts;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{self, Read, Write};

/// Bytes of address space (decision I6).
const MAX_MEMORY: u64 = 512 * 1024 * 1024;

/// Seconds of processor time (decision I6). The parent limits the whole time.
const MAX_SECONDS: u64 = 10;

/// Takes on the bounds, reads a dump from `input` and writes its facts to `output` as JSON: an object, or a text that says
/// why there are none. Must be called before the process has other threads.
///
/// # Errors
/// When the bounds can't be set, or input or output fails.
pub fn run_child(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::As, limit(MAX_MEMORY))?;
    setrlimit(Resource::Cpu, limit(MAX_SECONDS))?;
    let mut dump = Vec::new();
    input.read_to_end(&mut dump)?;
    serde_json::to_writer(&mut output, &facts(&dump))?;
    output.flush()
}
