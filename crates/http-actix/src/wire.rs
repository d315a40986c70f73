//! The connection below actix: it hands over one request at a time.
//!
//! actix reads ahead: the head of a pipelined request overwrites what the answer to the one before
//! still needs (its method, its connection type, whether its body was read), so that answers lose
//! their body or close the connection under the next request. Here the bytes after a request are held
//! back until its answer is written (decision R12). Three more things can be done only here: a head that
//! isn't complete in time is refused on kept-alive connections too, a client that stops reading its
//! answer is given up, and what actix answers on its own to a head that it can't read gets the body that
//! every error has (decision R3).

mod boundary;
mod stall;
#[cfg(test)]
mod tests;

pub(crate) use boundary::Framing;
#[cfg(feature = "fuzzing")]
pub(crate) use boundary::follow;

use crate::error::unreadable_head;
use crate::format::{Format, Message};
use actix_rt::time::{Sleep, sleep};
use actix_web::http::StatusCode;
use boundary::Scanner;
use bytes::{Buf, Bytes, BytesMut};
use domain::clock::IdSource;
use stall::Stall;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How long what a client still sends is read after an answer to a head that can't be read.
const LINGER: Duration = Duration::from_secs(2);

/// Whose turn it is on a connection; shared by the connection and the request that is being answered.
#[derive(Default)]
pub(crate) struct Turn {
    state: Cell<TurnState>,
    reader: RefCell<Option<Waker>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TurnState {
    /// The client's: no request was recognized since the last answer.
    #[default]
    Reading,
    /// A request was recognized; its body is framed like this.
    Begun(Framing),
    /// Its answer is complete, though perhaps not written yet.
    Ended(Framing),
}

impl Turn {
    /// A request was recognized.
    pub(crate) fn begin(&self, framing: Framing) {
        if self.state.get() != TurnState::Reading {
            return;
        }
        self.state.set(TurnState::Begun(framing));
        // Of a request without a body nothing is left to be read.
        if framing != Framing::Length(0)
            && let Some(reader) = self.reader.take()
        {
            reader.wake();
        }
    }

    /// The answer to the request is complete. Once it is written, actix flushes, and the next request may come.
    pub(crate) fn end(&self) {
        if let TurnState::Begun(framing) = self.state.get() {
            self.state.set(TurnState::Ended(framing));
        }
    }
}

/// What of the inbound bytes may be handed over now.
enum Stage {
    /// A head, up to its end.
    Head(Scanner),
    /// Nothing until the request is recognized.
    HeadRead,
    /// The body of the recognized request.
    Body(Scanner),
    /// Nothing until the request is answered.
    BodyRead,
    /// What is left of a body whose request was answered early; then the end, since actix closes the
    /// connection after such an answer.
    Discarding(Scanner),
    /// Nothing more: the connection is to be closed.
    Closing,
}

/// A connection.
pub(crate) struct Wire<Io> {
    io: Io,
    turn: Rc<Turn>,
    stage: Stage,
    /// Bytes that arrived together with what was handed over, but belong to a later stage.
    held: BytesMut,
    /// What reading ahead failed with, for who reads next.
    failure: Option<io::Error>,
    read_timeout: Duration,
    /// When the head must be complete.
    deadline: Option<Pin<Box<Sleep>>>,
    has_received: bool,
    stall: Stall,
    /// An answer of our own, under way in place of actix's or of none.
    own_answer: Option<Bytes>,
    ids: Arc<dyn IdSource>,
}

impl<Io> Wire<Io> {
    pub(crate) fn new(io: Io, read_timeout: Duration, ids: Arc<dyn IdSource>) -> Self {
        Self {
            io,
            turn: Rc::default(),
            stage: Stage::Head(Scanner::head()),
            held: BytesMut::new(),
            failure: None,
            read_timeout,
            deadline: Some(Box::pin(sleep(read_timeout))),
            has_received: false,
            stall: Stall::new(read_timeout),
            own_answer: None,
            ids,
        }
    }

    pub(crate) fn turn(&self) -> Rc<Turn> {
        Rc::clone(&self.turn)
    }

    /// Follows what the request's side has done since.
    fn follow_turn(&mut self) {
        let (Stage::HeadRead, TurnState::Begun(framing) | TurnState::Ended(framing)) =
            (&self.stage, self.turn.state.get())
        else {
            return;
        };
        let scanner = Scanner::body(framing);
        self.stage = if scanner.is_done() { Stage::BodyRead } else { Stage::Body(scanner) };
    }

    /// All of an answer is written: the next request may come.
    fn reopen(&mut self) {
        self.follow_turn();
        self.stage = match std::mem::replace(&mut self.stage, Stage::Closing) {
            Stage::BodyRead => {
                self.turn.state.set(TurnState::Reading);
                self.has_received = false;
                self.deadline = None;
                Stage::Head(Scanner::head())
            }
            Stage::Body(scanner) => Stage::Discarding(scanner),
            other => other,
        };
    }

    /// An error of the kind that `status` says, whole.
    fn compose(&self, status: StatusCode) -> Bytes {
        let body = Format::Json.write(Message::Error(unreadable_head(status)));
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {}\r\ncontent-length: {}\r\nx-request-id: {}\r\nconnection: close\r\n\r\n",
            Format::Json.content_type(),
            body.len(),
            self.ids.guid().as_hyphenated()
        );
        (head + &body).into()
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> Wire<Io> {
    /// Reads what has arrived, of that hands over what `scanner` takes for its own, holds the rest back.
    fn poll_take(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        take: impl FnOnce(&mut Self, &[u8]) -> usize,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if self.held.is_empty() {
            ready!(Pin::new(&mut self.io).poll_read(cx, buffer))?;
        } else {
            let length = self.held.len().min(buffer.remaining());
            // What is handed over is cut off what is held; the rest stays where it is.
            let held = self.held.split_to(length);
            let taken = take(self, &held);
            buffer.put_slice(&held[..taken]);
            if taken < length {
                let mut excess = held;
                excess.advance(taken);
                excess.unsplit(std::mem::take(&mut self.held));
                self.held = excess;
            }
            return Poll::Ready(Ok(()));
        }
        let taken = take(self, &buffer.filled()[before..]);
        self.held.extend_from_slice(&buffer.filled()[before + taken..]);
        buffer.set_filled(before + taken);
        Poll::Ready(Ok(()))
    }

    /// Polls for the next request, so that actix need not be polled before its bytes come: mostly the client has yet to
    /// see its answer.
    fn read_ahead(&mut self, cx: &mut Context<'_>) {
        let mut bytes = [0; 1024];
        let mut buffer = ReadBuf::new(&mut bytes);
        if self.held.is_empty() {
            match Pin::new(&mut self.io).poll_read(cx, &mut buffer) {
                Poll::Ready(read) => self.failure = read.err(),
                Poll::Pending => return,
            }
        }
        // An end is met again by who reads.
        self.held.extend_from_slice(buffer.filled());
        cx.waker().wake_by_ref();
    }

    fn poll_head(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let polled = self.poll_take(cx, buffer, |wire, bytes| {
            let Stage::Head(scanner) = &mut wire.stage else {
                return bytes.len();
            };
            let taken = scanner.take(bytes);
            wire.has_received |= taken > 0;
            if scanner.is_done() {
                wire.deadline = None;
                wire.stage = Stage::HeadRead;
            }
            taken
        });
        let is_waiting = polled.is_pending();
        if is_waiting && self.has_received && self.deadline.is_none() {
            self.deadline = Some(Box::pin(sleep(self.read_timeout)));
        }
        let is_late = self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready());
        if is_waiting && is_late {
            self.deadline = None;
            self.stage = Stage::Closing;
            // A connection that was opened ahead of need asks for nothing.
            self.own_answer = self.has_received.then(|| self.compose(StatusCode::REQUEST_TIMEOUT));
            return self.poll_closing(cx);
        }
        polled
    }

    fn poll_body(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_take(cx, buffer, |wire, bytes| {
            let (Stage::Body(scanner) | Stage::Discarding(scanner)) = &mut wire.stage else {
                return bytes.len();
            };
            let taken = scanner.take(bytes);
            if scanner.is_done() {
                let is_body = matches!(wire.stage, Stage::Body(_));
                wire.stage = if is_body { Stage::BodyRead } else { Stage::Closing };
            } else if scanner.is_broken() {
                // To actix this is an end too early, to which there is an answer; of the bytes themselves
                // it would make a failed connection, to which there is none.
                wire.stage = Stage::Closing;
            }
            taken
        })
    }

    /// Writes our own answer, if there is one, and closes in order: what the client still sends is
    /// thrown away for a while, since closing over unread bytes would take the answer from it.
    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(answer) = &mut self.own_answer else {
            return Poll::Ready(Ok(()));
        };
        while !answer.is_empty() {
            let written = ready!(Pin::new(&mut self.io).poll_write(cx, answer))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            answer.advance(written);
        }
        ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut bytes = [0; 4096];
        while deadline.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.io).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> AsyncRead for Wire<Io> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if let Some(failure) = wire.failure.take() {
            return Poll::Ready(Err(failure));
        }
        wire.follow_turn();
        match wire.stage {
            Stage::Head(_) => wire.poll_head(cx, buffer),
            Stage::Body(_) | Stage::Discarding(_) => wire.poll_body(cx, buffer),
            Stage::HeadRead => {
                wire.turn.reader.replace(Some(cx.waker().clone()));
                Poll::Pending
            }
            Stage::BodyRead => Poll::Pending,
            Stage::Closing => wire.poll_closing(cx),
        }
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<Io> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        if wire.turn.state.get() != TurnState::Reading {
            let written = Pin::new(&mut wire.io).poll_write(cx, bytes);
            return wire.stall.watch(cx, written);
        }
        // Nobody was asked for an answer: this is actix's own, to a head that it can't read.
        if wire.own_answer.is_none() {
            let status = bytes.get(9..12).and_then(|digits| StatusCode::from_bytes(digits).ok());
            wire.own_answer = Some(wire.compose(status.unwrap_or(StatusCode::BAD_REQUEST)));
            wire.stage = Stage::Closing;
            wire.deadline = None;
        }
        ready!(wire.poll_closing(cx))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        // actix flushes once all that it had to write is written.
        if matches!(wire.turn.state.get(), TurnState::Ended(_)) {
            wire.reopen();
            if matches!(wire.stage, Stage::Head(_)) {
                wire.read_ahead(cx);
            }
        }
        // Under TLS what was written may still wait here.
        let flushed = Pin::new(&mut wire.io).poll_flush(cx);
        wire.stall.watch(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}
