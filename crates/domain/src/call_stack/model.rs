//! Threads and their frames.

use super::{function, module};
use std::fmt;

/// Frames of a thread that are read at most (decision I4).
pub(super) const MAX_FRAMES: usize = 40;

/// What a text says of a crash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallStack {
    /// The exception type, the signal or the code that ended the program.
    pub reason: Option<String>,
    /// In the order of the text.
    pub threads: Vec<Thread>,
    /// The first line that isn't blank, numbers replaced.
    pub first_line: Option<String>,
}

impl CallStack {
    /// The thread that is marked as crashed, else the first one with frames.
    #[must_use]
    pub fn crashed_thread(&self) -> Option<&Thread> {
        let with_frames = || self.threads.iter().filter(|thread| !thread.frames.is_empty());
        with_frames().find(|thread| thread.is_crashed).or_else(|| with_frames().next())
    }
}

/// A thread, its innermost frame first, at most 40 of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// As the text names it.
    pub name: Option<String>,
    /// Whether the text marks it as crashed.
    pub is_crashed: bool,
    pub frames: Vec<Frame>,
}

/// A frame, reduced to what is the same in every crash at this place (decision I4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// In lower case, without folder, extension and version.
    pub module: Option<String>,
    /// Without parameters, template arguments and parts that a compiler made.
    pub function: Option<String>,
    /// Bytes from the beginning of the module; only of frames without a function.
    pub offset: Option<u64>,
}

impl Frame {
    /// Reduces what a text says. `None` if nothing is left.
    pub(super) fn new(module: Option<&str>, function: Option<&str>, offset: Option<u64>) -> Option<Self> {
        let module = module.and_then(module::reduce);
        let function = function.and_then(function::reduce);
        let offset = offset.filter(|_| function.is_none() && module.is_some());
        (module.is_some() || function.is_some()).then_some(Self { module, function, offset })
    }

    /// A frame of a debugger that found no function: `module` as a dump names it, `offset` in bytes.
    #[must_use]
    pub fn at_offset(module: &str, offset: u64) -> Option<Self> {
        Self::new(Some(module), None, Some(offset))
    }
}

/// `module!function`, or `module@offset` without a function.
impl fmt::Display for Frame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.module, &self.function, self.offset) {
            (Some(module), Some(function), _) => write!(out, "{module}!{function}"),
            (None, Some(function), _) => out.write_str(function),
            (Some(module), None, Some(offset)) => write!(out, "{module}@0x{offset:x}"),
            (module, None, _) => out.write_str(module.as_deref().unwrap_or("unknown")),
        }
    }
}
