//! stderr for the lines of the log, without the lock that the standard library takes for each.
//!
//! Who finds that lock taken is put to sleep and woken. All threads end their requests by a line, so that every other
//! request was, of those that one commit answers together. The system itself keeps short lines apart.

use rustix::pipe::PIPE_BUF;
use std::fs::File;
use std::io::{self, Write, stderr};
use std::os::fd::AsFd;
use std::sync::{PoisonError, RwLock};
use tracing_subscriber::fmt::MakeWriter;

/// Takes lines, each whole, from any thread.
pub(super) struct StderrLines {
    stderr: File,
    /// Held alone by who writes a line that a full pipe may cut; by others together.
    turns: RwLock<()>,
}

impl StderrLines {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self::to(stderr().as_fd().try_clone_to_owned()?.into()))
    }

    fn to(stderr: File) -> Self {
        Self { stderr, turns: RwLock::default() }
    }

    fn write_line(&self, line: &[u8]) -> io::Result<()> {
        if line.len() > PIPE_BUF {
            let _alone = self.turns.write().unwrap_or_else(PoisonError::into_inner);
            return (&self.stderr).write_all(line);
        }
        let _together = self.turns.read().unwrap_or_else(PoisonError::into_inner);
        (&self.stderr).write_all(line)
    }
}

/// One that writes a line.
pub(super) struct Line<'a>(&'a StderrLines);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_line(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for StderrLines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
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
                let lines = &lines;
                threads.spawn(move || {
                    for length in lengths.repeat(times) {
                        lines.make_writer().write_all(format!("{}\n", letter.repeat(length)).as_bytes()).unwrap();
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
