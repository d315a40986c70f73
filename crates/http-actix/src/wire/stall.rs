//! How long a client may leave its answer unread.

use actix_rt::time::{Instant, Sleep, sleep_until};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Watches the writes of a connection. Answers of any length and any speed pass; only one of which
/// nothing at all is taken for `limit` fails, so that a client that has gone silent holds no memory.
pub(super) struct Stall {
    limit: Duration,
    /// Since when nothing was taken.
    since: Option<Instant>,
    /// Kept from one wait to the next: most waits are short, and it seldom has to be set anew.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, since: None, timer: None }
    }

    /// Passes on how a write went, or fails if it has waited for too long.
    pub(super) fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.since = None;
            return written;
        }
        let end = *self.since.get_or_insert_with(Instant::now) + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        while timer.as_mut().poll(cx).is_ready() {
            // It may have been set for an earlier wait.
            if Instant::now() >= end {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            timer.as_mut().reset(end);
        }
        Poll::Pending
    }
}
