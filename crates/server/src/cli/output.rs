//! What commands answer on stdout, line by line.

use crate::fleet_json::key_line;
use anyhow::{Context, Result};
use domain::fleet::{Applied, NewKey};
use std::io::{self, ErrorKind, Write, stdout};

/// Prints one line at once. Whoever has read enough, as `head` does, ends nothing but the reading.
pub(super) fn line(text: &str) -> Result<()> {
    match print(text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context("cannot write to stdout"),
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints a key: the only time that it is shown (decision A1).
pub(super) fn key(key: &NewKey) -> Result<()> {
    print(&key_line(key))
        .with_context(|| format!("a key was issued for {} of {} but is lost", key.user, key.organization))
}

/// Prints the keys that applying a fleet file issued. Those of the file that it left out are told to
/// `warn`: the operator thinks that they count.
pub(super) fn applied(applied: &Applied, warn: impl Fn(&str)) -> Result<()> {
    for (organization, user) in &applied.keys_left_out {
        warn(&format!("the key of user {user} of {organization} was left out: the user has or had another one"));
    }
    // All are tried: one that can't be printed is no reason to lose the others.
    let printed: Vec<Result<()>> = applied.issued.iter().map(key).collect();
    printed.into_iter().collect()
}

/// Tells stderr what the operator should know, apart from what the command answers.
#[expect(clippy::print_stderr, reason = "warnings must not mix with the answer on stdout")]
pub(super) fn warning(text: &str) {
    eprintln!("warning: {text}");
}
