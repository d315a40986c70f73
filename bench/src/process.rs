//! Programs that the measurement starts: each is ended by its id when its value goes, and only it.

use anyhow::{Context, Result, bail};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The signal that asks a program to end.
#[derive(Clone, Copy)]
pub(crate) enum Ending {
    /// SIGTERM: in order.
    Terminate,
    /// SIGINT: PostgreSQL's fast shutdown.
    Interrupt,
    /// SIGKILL: for what lingers and keeps nothing.
    Kill,
}

/// A running program.
pub(crate) struct Program {
    name: &'static str,
    child: Child,
    ending: Ending,
}

impl Program {
    /// Starts it with its output going to `log`.
    pub(crate) fn start(name: &'static str, command: &mut Command, log: &Path, ending: Ending) -> Result<Self> {
        let log = fs::OpenOptions::new().create(true).append(true).open(log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {name}"))?;
        Ok(Self { name, child, ending })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `ready` says so; fails when the program ends or half a minute passes before.
    pub(crate) async fn wait_until(&mut self, ready: impl AsyncFn() -> bool) -> Result<()> {
        self.wait_until_within(Duration::from_secs(30), ready).await
    }

    pub(crate) async fn wait_until_within(&mut self, limit: Duration, ready: impl AsyncFn() -> bool) -> Result<()> {
        let begun = Instant::now();
        while !ready().await {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status} before it was ready", self.name);
            }
            if begun.elapsed() > limit {
                bail!("{} was not ready within {limit:?}", self.name);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Ends it and waits for its end.
    pub(crate) fn end(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        let signal = match self.ending {
            Ending::Terminate => "-TERM",
            Ending::Interrupt => "-INT",
            Ending::Kill => "-KILL",
        };
        run(Command::new("kill").args([signal, &self.child.id().to_string()]))?;
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > Duration::from_secs(40) {
                self.child.kill()?;
                self.child.wait()?;
                bail!("{} did not end in order", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Nothing more can be done about a program that doesn't end.
        drop(self.end());
    }
}

/// Runs a program to its end and gives its standard output; fails with its error output.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("running {}", command.get_program().to_string_lossy()))?;
    if !output.status.success() {
        // The first lines tell the cause; each client of a load may repeat them.
        let printed = String::from_utf8_lossy(&output.stderr).lines().take(5).collect::<Vec<_>>().join("; ");
        bail!("{} ended with {}: {printed}", command.get_program().to_string_lossy(), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Addresses on loopback whose ports are free now, below 55000: SeaweedFS derives further ports from
/// its own.
pub(crate) fn free_addresses(count: usize) -> Result<Vec<SocketAddr>> {
    let mut held = Vec::new();
    for port in 20_000 + u16::try_from(std::process::id() % 20_000)?..55_000 {
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            held.push(listener);
        }
        if held.len() == count {
            break;
        }
    }
    held.iter().map(|listener| Ok(listener.local_addr()?)).collect()
}

/// Whether this process is root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(run(Command::new("id").arg("-u"))?.trim() == "0")
}

/// A value in kB of `/proc/<id>/status`, in MiB.
pub(crate) fn memory(id: u32, field: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).context("no such memory field")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
