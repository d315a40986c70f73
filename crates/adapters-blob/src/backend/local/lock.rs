//! A lock file that says which half-written files are abandoned (ADR 15).
//!
//! Every process that has the folder open holds a shared lock on the file. A process that gets the
//! lock exclusively when it opens the folder knows that all earlier writers are gone, because the
//! operating system releases the locks of a process that ends. The instance lock of the database
//! can't say that: it exists for SQLite only, and several processes over PostgreSQL may share a folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

const LOCK_FILE: &str = ".platen-lock";

/// A live upload writes more often, unless its client sends next to nothing.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

pub(super) struct FolderLock {
    /// Holds the shared lock.
    _file: Option<File>,
    abandoned_before: Option<SystemTime>,
}

impl FolderLock {
    /// Locks the folder. It never fails: in a folder without a lock, such as one that is read-only,
    /// no half-written file is known to be abandoned.
    pub(super) fn take(folder: &Path) -> Self {
        match Self::try_take(folder) {
            Ok((file, abandoned_before)) => Self { _file: Some(file), abandoned_before },
            Err(_) => Self { _file: None, abandoned_before: None },
        }
    }

    fn try_take(folder: &Path) -> io::Result<(File, Option<SystemTime>)> {
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK_FILE))?;
        let is_alone = file.try_lock().is_ok();
        // The time of the file system, with which the times of other files are compared.
        writeln!(file, "{:>10}", std::process::id())?;
        let opened = file.metadata()?.modified()?;
        let abandoned_before = if is_alone { Some(opened) } else { opened.checked_sub(LONGEST_PAUSE) };
        file.unlock()?;
        // Waits while another process is between `try_lock` and `unlock`.
        file.lock_shared()?;
        Ok((file, abandoned_before))
    }

    /// Half-written files without a write since then are abandoned; `None` if that isn't known.
    pub(super) fn abandoned_before(&self) -> Option<SystemTime> {
        self.abandoned_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_knows_that_all_earlier_writers_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::take(folder.path());
        let second = FolderLock::take(folder.path());
        assert!(first.abandoned_before() > second.abandoned_before());
    }

    #[test]
    fn the_second_process_still_counts_when_the_first_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::take(folder.path());
        let second = FolderLock::take(folder.path());
        let opened = first.abandoned_before();
        drop(first);
        let third = FolderLock::take(folder.path());
        assert!(third.abandoned_before() < opened);
        drop((second, third));
        assert!(FolderLock::take(folder.path()).abandoned_before() >= opened);
    }

    #[test]
    fn a_folder_without_a_lock_file_is_never_swept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(LOCK_FILE)).unwrap();
        assert_eq!(FolderLock::take(folder.path()).abandoned_before(), None);
    }
}
