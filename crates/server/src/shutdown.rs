//! How the server ends: the signals, and the drain.

use actix_server::Server;
use anyhow::{Context, Result, bail};
use std::pin::pin;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

/// How long running requests may take after the signal.
const DRAIN: Duration = Duration::from_secs(30);

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
/// A second signal ends the wait at once.
pub(crate) async fn drain(server: Server, signals: &mut Signals) -> Result<()> {
    let handle = server.handle();
    let mut server = pin!(server);
    let signal = tokio::select! {
        ended = &mut server => {
            ended.context("the server failed")?;
            bail!("the server ended by itself");
        }
        signal = signals.next() => signal,
    };
    tracing::info!(signal, "draining: running requests finish, new ones are not taken");
    // The order to stop is sent when the call is made; the server has to be polled for it to be done.
    let stopped = handle.stop(true);
    tokio::select! {
        (ended, ()) = async { tokio::join!(server, stopped) } => ended.context("the server failed while it drained")?,
        signal = signals.next() => tracing::warn!(signal, "not waiting for running requests any longer"),
        () = sleep(DRAIN) => tracing::warn!("running requests did not end in time"),
    }
    tracing::info!("stopped");
    Ok(())
}
