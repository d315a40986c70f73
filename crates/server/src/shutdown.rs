//! How the server ends: the signals, and the drain.

use anyhow::{Context, Result, bail};
use http_actix::DRAIN_TIME;
use std::future::Future;
use std::io;
use std::pin::pin;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

/// SIGTERM and SIGINT. From here on they no longer end the process by themselves.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals over.
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen to signals");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Waits for the next of them; answers its name.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Runs the server until a signal, then lets it drain: no new connections, running requests finish.
/// `stop` orders it to, and waits until it has. A second signal ends the wait at once.
pub(crate) async fn drain<Stopped: Future<Output = ()>>(
    server: impl Future<Output = io::Result<()>>,
    stop: impl FnOnce() -> Stopped,
    signals: &mut Signals,
) -> Result<()> {
    let mut server = pin!(server);
    let signal = tokio::select! {
        ended = &mut server => {
            ended.context("the server failed")?;
            bail!("the server ended by itself");
        }
        signal = signals.next() => signal,
    };
    tracing::info!(signal, "draining: running requests finish, new ones are not taken");
    // Both have to be polled: the server does what it is ordered to.
    tokio::select! {
        (ended, ()) = async { tokio::join!(server, stop()) } => ended.context("the server failed while it drained")?,
        signal = signals.next() => tracing::warn!(signal, "not waiting for running requests any longer"),
        () = sleep(DRAIN_TIME) => tracing::warn!("running requests did not end in time"),
    }
    tracing::info!("stopped");
    Ok(())
}
