//! What commands answer on stdout, line by line.

use super::table::{Screen, escape, escape_json};
use crate::fleet_json::key_line;
use anyhow::{Context, Result};
use domain::fleet::{Applied, Changes, NewKey};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::path::Path;

/// Prints one line at once. A reader that ends early, as `head` does, is no failure.
pub(super) fn line(text: &str) -> Result<()> {
    match print(text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context(FAILED),
    }
}

const FAILED: &str = "cannot write to stdout";

/// The reader of stdout has ended, as `head` does when it has its lines. The command ends too; nothing failed.
#[derive(Debug)]
pub(super) struct OutputClosed;

impl fmt::Display for OutputClosed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("stdout is closed")
    }
}

impl std::error::Error for OutputClosed {}

/// The output of a command that shows records. Unlike [`line`], writing fails with [`OutputClosed`] if the reader ends.
pub(super) struct Out<'a> {
    stdout: &'a mut dyn Write,
    screen: Screen,
}

impl<'a> Out<'a> {
    pub(super) fn new(stdout: &'a mut dyn Write, screen: Screen) -> Self {
        Self { stdout, screen }
    }

    pub(super) fn screen(&self) -> Screen {
        self.screen
    }

    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        written(self.stdout.write_all(bytes))
    }

    /// Hands all that was written to the reader.
    pub(super) fn flush(&mut self) -> Result<()> {
        written(self.stdout.flush())
    }
}

/// Whether stdout can still be written: false for a pipe whose reader has ended.
pub(super) fn is_stdout_open() -> bool {
    let stdout = stdout();
    let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
    let answered = poll(&mut asked, Some(&Timespec::default()));
    answered.is_err() || !asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(OutputClosed.into()),
        written => written.context(FAILED),
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints a line that is shown once: a reader that ends early is a failure.
pub(super) fn secret_line(text: &str) -> Result<()> {
    print(text).context(FAILED)
}

/// Prints a key: the only time that it is shown (decision A1).
pub(super) fn key(key: &NewKey) -> Result<()> {
    print(&escape_json(&key_line(key)))
        .with_context(|| format!("a key was issued for {} of {} but is lost", key.user, key.organization))
}

/// Warns of what in a fleet file is probably a mistake: keys that are ignored, and names that look like others.
pub(super) fn fleet_warnings(applied: &Applied, warn: impl Fn(&str)) {
    for (organization, user) in &applied.keys_left_out {
        warn(&format!(
            "the key of user \"{user}\" of \"{organization}\" is ignored: it is revoked, or the user has or had another one; \
             platen key issue gives a new one"
        ));
    }
    for (organization, record) in &applied.retired {
        warn(&format!("{record} of \"{organization}\" was removed and is left as it is; restore it to change it"));
    }
    for (organization, record, target) in &applied.retired_targets {
        warn(&format!(
            "{record} of \"{organization}\" refers to {target}, which was removed: restore it or name another one"
        ));
    }
    for (record, former) in &applied.hashes_taken_over {
        warn(&format!("{record} takes over the HardwareHash of {former}, which has none now"));
    }
    applied.similar_names.iter().for_each(|pair| warn(&pair.to_string()));
}

/// Prints the keys that applying a fleet file issued, its [`fleet_warnings`], and on a terminal what changed.
pub(super) fn applied(applied: &Applied, changes: Option<&Changes>, warn: impl Fn(&str)) -> Result<()> {
    fleet_warnings(applied, warn);
    // All are tried: one that can't be printed is no reason to lose the others.
    let printed: Vec<Result<()>> = applied.issued.iter().map(key).collect();
    if let Some(Changes { added, changed, unchanged, .. }) = changes {
        let [new, altered] = [added.len(), changed.len()];
        notice(&format!("records of the fleet file: added {new}, changed {altered}, unchanged {unchanged}"));
    }
    printed.into_iter().collect()
}

/// Prints a line to stderr if that is a terminal. The stderr of scripts is for failures alone.
pub(super) fn notice(text: &str) {
    if is_interactive() {
        error_line(&escape(text));
    }
}

/// Whether notices are shown.
pub(super) fn is_interactive() -> bool {
    stderr().is_terminal()
}

/// Prints to stderr, in scripts too, that a new database was made: another one may have been meant.
pub(super) fn note_new_database(file: &Path) {
    error_line(&escape(&format!("note: made the database {}, which was not there", file.display())));
}

/// Prints a warning to stderr.
pub(super) fn warning(text: &str) {
    error_line(&format!("warning: {}", escape(text)));
}

/// Prints a line to stderr. A closed stderr is ignored: `eprintln!` would panic.
pub(super) fn error_line(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
