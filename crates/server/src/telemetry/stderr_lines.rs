//! stderr for the lines of the log, without the lock that the standard library takes for each (ADR 58).

use rustix::pipe::PIPE_BUF;
use std::fs::File;
use std::io::{self, Write, stderr};
use std::os::fd::AsFd;
use std::sync::RwLock;

/// Takes lines, each whole, from any thread.
pub(super) struct StderrLines {
    stderr: File,
    turns: RwLock<()>,
}

impl StderrLines {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self::to(stderr().as_fd().try_clone_to_owned()?.into()))
    }

    fn to(stderr: File) -> Self {
        Self { stderr, turns: RwLock::default() }
    }
}

impl Write for &StderrLines {
    /// Writes a line. One that a full pipe may cut is written alone.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_long = line.len() > PIPE_BUF;
        // A poisoned lock is held all the same.
        let _alone = is_long.then(|| self.turns.write());
        let _together = (!is_long).then(|| self.turns.read());
        (&self.stderr).write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, pipe};
    use std::os::fd::OwnedFd;
    use std::thread::{scope, sleep};
    use std::time::Duration;

    #[test]
    fn lines_of_many_threads_stay_whole_in_a_full_pipe() {
        let (mut reader, writer) = pipe().unwrap();
        let lines = StderrLines::to(OwnedFd::from(writer).into());
        let lengths = [10, 100, PIPE_BUF - 1, PIPE_BUF, 5 * PIPE_BUF];
        let (letters, times) = (["a", "b", "c", "d"], 20);
        let mut read = vec![0; letters.len() * times * lengths.iter().map(|length| length + 1).sum::<usize>()];
        scope(|threads| {
            for letter in letters {
                let mut lines = &lines;
                threads.spawn(move || {
                    for length in lengths.repeat(times) {
                        lines.write_all(format!("{}\n", letter.repeat(length)).as_bytes()).unwrap();
                    }
                });
            }
            for piece in read.chunks_mut(3000) {
                reader.read_exact(piece).unwrap();
                sleep(Duration::from_micros(100));
            }
        });
        let read = String::from_utf8(read).unwrap();
        assert_eq!(read.lines().count(), letters.len() * times * lengths.len());
        for line in read.lines() {
            assert!(lengths.contains(&line.len()) && line.bytes().all(|byte| byte == line.as_bytes()[0]), "{line}");
        }
    }
}
