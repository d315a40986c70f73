//! How many files and connections the process may have open at a time.

use rustix::process::{Resource, getrlimit, setrlimit};

/// What is taken for enough where the system sets no bound.
const ENOUGH: u64 = 65_536;

/// What listeners, the log, and all that is opened now and then take.
const RESERVED: usize = 64;

/// What a connection to the database takes at most: three files on `SQLite`.
const OF_DATABASE_CONNECTION: usize = 4;

/// How many clients may be connected, so that each can have an open file next to its connection, with enough left for the database.
pub(crate) fn connections(of_database: u32) -> usize {
    let reserved = RESERVED + OF_DATABASE_CONNECTION * of_database as usize;
    (allow().saturating_sub(reserved) / 2).max(1)
}

/// Raises the bound as far as the system lets a process; answers the new one. The usual one of 1024 is there for
/// programs that wait with `select`, which can't count further.
fn allow() -> usize {
    let mut bound = getrlimit(Resource::Nofile);
    let most = bound.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if bound.current.is_some_and(|current| current < most) {
        bound.current = Some(most);
        if let Err(error) = setrlimit(Resource::Nofile, bound) {
            tracing::warn!(%error, "cannot have more files open");
        }
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(ENOUGH).min(ENOUGH);
    usize::try_from(current).unwrap_or(usize::MAX)
}
