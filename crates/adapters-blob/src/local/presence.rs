//! Who else has the folder open, and hence which half-written files are dead.
//!
//! Every process holds a shared lock on a file in the folder as long as it has it open. Who gets the
//! lock for itself alone while opening knows that all who wrote before are gone, however they ended,
//! because locks end with their process. Who can't have it alone sweeps with more care. Nobody waits
//! for the lock but for the moment of another's opening; where even that never ends, as on a file system
//! without locks, the work goes on without.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

const LOCK_FILE: &str = ".platen-lock";

/// A live upload writes more often, unless its client sends next to nothing.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// The lock is held by one alone only for the moment of its opening.
const ATTEMPTS: usize = 1000;
const PAUSE: Duration = Duration::from_millis(5);

/// This process's mark that it has the folder open.
pub(crate) struct Presence {
    /// Holds the lock.
    _lock: Option<File>,
    dead_before: Option<SystemTime>,
}

impl Presence {
    /// Marks the folder as open.
    pub(crate) fn begin(root: &Path) -> Self {
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(root.join(LOCK_FILE));
        let Ok(lock) = lock else {
            // A folder in which no file can be made has no upload of ours either.
            return Self { _lock: None, dead_before: None };
        };
        let alone = lock.try_lock().is_ok();
        // The time is the file system's own, with which the times of other files are compared. It is
        // taken while nobody else can begin to write, if we are alone.
        let opened = touch(&lock).ok();
        let dead_before =
            opened.and_then(|opened| if alone { Some(opened) } else { opened.checked_sub(LONGEST_PAUSE) });
        Self { _lock: share(lock), dead_before }
    }

    /// Half-written files without a write since then are dead; `None` if that can't be known.
    pub(crate) fn dead_before(&self) -> Option<SystemTime> {
        self.dead_before
    }
}

/// Writes to the file and tells when that was.
fn touch(mut file: &File) -> io::Result<SystemTime> {
    writeln!(file, "{:>10}", std::process::id())?;
    file.metadata()?.modified()
}

/// Turns the lock into one that others can hold too.
fn share(lock: File) -> Option<File> {
    let _ = lock.unlock();
    for _ in 0..ATTEMPTS {
        if lock.try_lock_shared().is_ok() {
            return Some(lock);
        }
        std::thread::sleep(PAUSE);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_alone_knows_all_former_writers_dead() {
        let folder = tempfile::tempdir().unwrap();
        let first = Presence::begin(folder.path());
        let second = Presence::begin(folder.path());
        assert!(first.dead_before() > second.dead_before());
    }

    #[test]
    fn one_who_came_second_still_counts_when_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = Presence::begin(folder.path());
        let second = Presence::begin(folder.path());
        let opened = first.dead_before();
        drop(first);
        let third = Presence::begin(folder.path());
        assert!(third.dead_before() < opened);
        drop((second, third));
        assert!(Presence::begin(folder.path()).dead_before() >= opened);
    }

    #[test]
    fn a_folder_that_takes_no_lock_file_is_opened_and_never_swept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(LOCK_FILE)).unwrap();
        assert_eq!(Presence::begin(folder.path()).dead_before(), None);
    }
}
