//! What commands answer on stdout, line by line.

use super::table::{visible, visible_json};
use crate::fleet_json::key_line;
use anyhow::{Context, Result};
use domain::fleet::{Applied, Changes, NewKey};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::path::Path;

/// Prints one line at once. Whoever has read enough, as `head` does, ends nothing but the reading.
pub(super) fn line(text: &str) -> Result<()> {
    match print(text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context(FAILED),
    }
}

const FAILED: &str = "cannot write to stdout";

/// The reader of stdout has read enough: there is nobody to go on for, and nothing failed.
#[derive(Debug)]
pub(super) struct ReaderGone;

impl fmt::Display for ReaderGone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the reader of stdout is gone")
    }
}

impl std::error::Error for ReaderGone {}

/// Where a listing of any length goes. Unlike [`line`], writing fails with [`ReaderGone`] where nobody reads on.
pub(super) struct Out<'a>(&'a mut dyn Write);

impl<'a> Out<'a> {
    /// Over a buffer of stdout.
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self(out)
    }

    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        written(self.0.write_all(bytes))
    }

    /// Lets the reader see what was written.
    pub(super) fn flush(&mut self) -> Result<()> {
        written(self.0.flush())
    }
}

/// Whether somebody may read what is written to stdout: no for a pipe whose reader is gone.
pub(super) fn is_stdout_read() -> bool {
    let stdout = stdout();
    let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
    let answered = poll(&mut asked, Some(&Timespec::default()));
    answered.is_err() || !asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        written => written.context(FAILED),
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints a key: the only time that it is shown (decision A1).
pub(super) fn key(key: &NewKey) -> Result<()> {
    print(&visible_json(&key_line(key)))
        .with_context(|| format!("a key was issued for {} of {} but is lost", key.user, key.organization))
}

/// Tells `warn` what of a fleet file is hardly meant: keys that are left out, which the operator thinks count, and
/// names that look like others.
pub(super) fn doubts(applied: &Applied, warn: impl Fn(&str)) {
    for (organization, user) in &applied.keys_left_out {
        warn(&format!("the key of user {user} of {organization} is left out: the user has or had another one"));
    }
    applied.similar_names.iter().for_each(|pair| warn(&pair.to_string()));
}

/// Prints the keys that applying a fleet file issued, and tells `warn` its [`doubts`], and people what changed.
pub(super) fn applied(applied: &Applied, changes: Option<&Changes>, warn: impl Fn(&str)) -> Result<()> {
    doubts(applied, warn);
    // All are tried: one that can't be printed is no reason to lose the others.
    let printed: Vec<Result<()>> = applied.issued.iter().map(key).collect();
    if let Some(Changes { added, changed, unchanged }) = changes {
        let [new, altered] = [added.len(), changed.len()];
        notice(&format!("records of the fleet file: added {new}, changed {altered}, unchanged {unchanged}"));
    }
    printed.into_iter().collect()
}

/// Tells whoever sits before a terminal what an answer alone doesn't say. Scripts are told nothing: their stderr
/// is for what went wrong.
pub(super) fn notice(text: &str) {
    if are_notices_read() {
        error_line(&visible(text));
    }
}

pub(super) fn are_notices_read() -> bool {
    stderr().is_terminal()
}

/// Says on stderr, also to scripts, that a new database was made: another one may have been meant.
pub(super) fn note_new_database(file: &Path) {
    error_line(&visible(&format!("note: made the database {}, which was not there", file.display())));
}

/// Tells stderr what the operator should know, apart from what the command answers.
pub(super) fn warning(text: &str) {
    error_line(&format!("warning: {}", visible(text)));
}

/// Prints a [`visible`] line to stderr. Where nobody reads it, there is nobody to tell that: `eprintln!` would panic.
pub(super) fn error_line(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
