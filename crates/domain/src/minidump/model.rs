//! The facts of a minidump. Any of them may be missing.

use crate::call_stack::Frame;
use crate::crash_signature::SignedFrame;
use serde::{Deserialize, Serialize};

/// Limit for the loaded modules, and for the unloaded modules (decision I6).
pub const MAX_MODULES: usize = 2048;

/// Limit for the threads (decision I6).
pub const MAX_THREADS: usize = 4096;

/// The facts of a minidump, as far as it could be read. They are stored as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DumpFacts {
    /// Such as `Windows NT`.
    pub operating_system: Option<String>,
    /// Such as `10.0.19045`.
    pub operating_system_version: Option<String>,
    /// Such as `amd64`.
    pub processor: Option<String>,
    /// When the dump was written: seconds since 1970.
    pub written_at: Option<u32>,
    /// Such as `EXCEPTION_ACCESS_VIOLATION_READ`.
    pub exception: Option<String>,
    /// The address that the access of the exception went to, such as `0x0000000000000004`.
    pub exception_address: Option<String>,
    /// The code location of the exception.
    pub place: Option<Place>,
    /// The id of the thread of the exception ([`DumpThread::id`]).
    pub crashed_thread: Option<u32>,
    pub threads: Vec<DumpThread>,
    pub modules: Vec<DumpModule>,
    pub unloaded_modules: Vec<DumpModule>,
    /// Names and values that the program wrote into the dump.
    pub annotations: Vec<(String, String)>,
    /// Sentences about what couldn't be read, and about what was left out.
    pub problems: Vec<String>,
}

/// A location in the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `None` if no module covers the address.
    pub module: Option<String>,
    /// Bytes from the beginning of the module.
    pub offset: Option<u64>,
    /// Such as `0x00007ff61a2b3c4d`.
    pub address: String,
}

/// A thread and its code location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DumpThread {
    pub id: u32,
    pub name: Option<String>,
    pub place: Option<Place>,
}

/// A loaded or unloaded module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DumpModule {
    pub name: String,
    pub version: Option<String>,
    /// The key of the symbols on a symbol server.
    pub debug_identifier: Option<String>,
    /// The base address, such as `0x00007ff61a2b0000`.
    pub address: String,
    /// In bytes.
    pub size: u64,
}

impl DumpFacts {
    /// The exception and the topmost frame of its thread, for a signature.
    #[must_use]
    pub fn signed_frame(&self) -> SignedFrame {
        let place = self.place.as_ref();
        let frame = place.and_then(|place| Frame::at_offset(place.module.as_deref()?, place.offset?));
        SignedFrame { reason: self.exception.clone(), frame }
    }
}
