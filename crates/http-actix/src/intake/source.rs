//! The bytes of a body as they come from the connection.

use super::Rest;
use actix_rt::time::timeout;
use actix_web::dev::Payload;
use bytes::Bytes;
use domain::body::BodyError;
use futures_util::{Stream, StreamExt};
use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// A body with a time limit for each wait.
pub(super) struct Source {
    payload: Payload,
    declared: Option<u64>,
    /// Bytes that came so far, for whoever counts them.
    read: Rc<Cell<u64>>,
    has_ended: bool,
    failure: Option<BodyError>,
    read_timeout: Duration,
    /// Runs while the client keeps us waiting.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Source {
    pub(super) fn new(payload: Payload, declared: Option<u64>, read_timeout: Duration, read: Rc<Cell<u64>>) -> Self {
        Self { payload, declared, read, has_ended: false, failure: None, read_timeout, waiting: None }
    }

    /// Why the body can't be read on, if it can't.
    pub(super) fn failure(&self) -> Option<&BodyError> {
        self.failure.as_ref()
    }

    /// The next bytes; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        let next = self.next().await.transpose();
        next.map_err(|error| self.failure.clone().unwrap_or_else(|| BodyError::Malformed(error.to_string())))
    }

    /// Reads what is left and throws it away, up to `limit` bytes.
    pub(super) async fn drain(mut self, limit: u64, time: Duration) -> Rest {
        let remaining = self.declared.map(|declared| declared.saturating_sub(self.read.get()));
        let mut spare = limit;
        let is_short = remaining.is_none_or(|remaining| remaining <= limit);
        let read_all = async {
            while let Some(chunk) = self.next().await {
                let length = chunk.map_err(drop)?.len() as u64;
                spare = spare.checked_sub(length).ok_or(())?;
            }
            Ok::<(), ()>(())
        };
        let drained = is_short && matches!(timeout(time, read_all).await, Ok(Ok(())));
        if drained && self.failure.is_none() {
            return Rest::default();
        }
        self.give_up()
    }

    /// Leaves what is left unread.
    pub(super) fn give_up(self) -> Rest {
        Rest(Some(self.payload))
    }

    fn fail(&mut self, error: BodyError) -> io::Error {
        self.failure = Some(error.clone());
        io::Error::other(error)
    }
}

impl Stream for Source {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended || self.failure.is_some() {
            return Poll::Ready(None);
        }
        match self.payload.poll_next_unpin(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                self.waiting = None;
                self.read.set(self.read.get() + chunk.len() as u64);
                Poll::Ready(Some(Ok(chunk)))
            }
            Poll::Ready(Some(Err(error))) => {
                let read = self.read.get();
                Poll::Ready(Some(Err(
                    self.fail(BodyError::Malformed(format!("the body broke off after {read} bytes: {error}")))
                )))
            }
            Poll::Ready(None) => {
                self.has_ended = true;
                Poll::Ready(None)
            }
            Poll::Pending => {
                let read_timeout = self.read_timeout;
                let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(read_timeout)));
                if waiting.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                let (read, seconds) = (self.read.get(), read_timeout.as_secs_f64());
                Poll::Ready(Some(Err(self.fail(BodyError::TimedOut(format!(
                    "nothing came for {seconds} s after {read} bytes of the body"
                ))))))
            }
        }
    }
}
