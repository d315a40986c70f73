//! The parent process: starts a child process for each dump, one at a time.

use async_trait::async_trait;
use domain::minidump::{DumpFacts, DumpReader, DumpSource, UnreadDump};
use futures_util::TryStreamExt;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The argument that makes the program run as the child process.
pub const SUBCOMMAND: &str = "read-minidump";

/// Limit for the elapsed time of a child process once it has the whole dump (decision I6).
const MAX_TIME: Duration = Duration::from_secs(10);

/// Limit for the time in which a dump arrives from the store.
const MAX_TRANSFER_TIME: Duration = Duration::from_mins(2);

/// Limit for the output of the child in bytes. Thousands of modules with long names take a few MiB.
const MAX_FACTS: u64 = 8 * 1024 * 1024;

/// The crate that reads dumps, with its version in the workspace.
const VERSION: &str = "minidump 0.27";

/// Reads dumps in child processes.
pub struct ChildProcessReader {
    program: PathBuf,
    /// Size limit for a dump in bytes.
    max_dump: u64,
    /// Locked while a child process runs: one dump is read at a time (decision I6).
    running: Mutex<()>,
}

impl ChildProcessReader {
    /// Starts `program` with the argument [`SUBCOMMAND`] for each dump of at most `max_dump` bytes.
    #[must_use]
    pub fn new(program: PathBuf, max_dump: u64) -> Self {
        Self { program, max_dump, running: Mutex::new(()) }
    }

    async fn facts_of(&self, dump: DumpSource) -> Result<DumpFacts, UnreadDump> {
        let mut child = self.start().map_err(|error| UnreadDump::Unavailable(format!("no reader: {error}")))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        // The child reads the whole dump before it writes. One that ends early is no failure of `feed`, the store's are.
        let late = || UnreadDump::Unavailable("the dump did not arrive from the store in time".to_owned());
        timeout(MAX_TRANSFER_TIME, feed(input, dump)).await.unwrap_or_else(|_| Err(late()))?;
        let ended = async { Ok((answer(output).await?, child.wait().await?)) };
        let late = || UnreadDump::Unreadable(format!("reading it took more than {} s", MAX_TIME.as_secs()));
        let ended: io::Result<_> = timeout(MAX_TIME, ended).await.map_err(|_| late())?;
        let (answer, status) =
            ended.map_err(|error| UnreadDump::Unavailable(format!("the reader can't be heard: {error}")))?;
        if !status.success() {
            let reason = format!("reading it took more than the reader may have, or ended it ({status})");
            return Err(UnreadDump::Unreadable(reason));
        }
        let facts: Result<Result<DumpFacts, String>, _> = serde_json::from_slice(&answer);
        match facts {
            Ok(facts) => facts.map_err(UnreadDump::Unreadable),
            Err(_) => Err(UnreadDump::Unreadable("its facts are too many".to_owned())),
        }
    }

    fn start(&self) -> io::Result<Child> {
        Command::new(&self.program)
            .arg(SUBCOMMAND)
            // The child needs no environment variables, and they may hold secrets.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
    }
}

#[async_trait]
impl DumpReader for ChildProcessReader {
    fn version(&self) -> String {
        VERSION.to_owned()
    }

    async fn read(&self, dump: DumpSource) -> Result<DumpFacts, UnreadDump> {
        if dump.size > self.max_dump {
            let (size, most) = (dump.size, self.max_dump);
            return Err(UnreadDump::Unreadable(format!("it has {size} bytes; dumps up to {most} bytes are read")));
        }
        let _lock = self.running.lock().await;
        self.facts_of(dump).await
    }
}

/// Writes the dump to the child.
///
/// # Errors
/// A failure of the store. A child that stops reading is no error.
async fn feed(input: Option<ChildStdin>, mut dump: DumpSource) -> Result<(), UnreadDump> {
    let Some(mut input) = input else { return Ok(()) };
    let failed = |error| UnreadDump::Unavailable(domain::error::error_chain(&error));
    while let Some(chunk) = dump.content.try_next().await.map_err(failed)? {
        if input.write_all(&chunk).await.is_err() {
            break;
        }
    }
    Ok(())
}

async fn answer(output: Option<ChildStdout>) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    if let Some(output) = output {
        output.take(MAX_FACTS).read_to_end(&mut answer).await?;
    }
    Ok(answer)
}
