//! The body of a request on its way in: read with a time limit, decoded, handed over in small chunks.
//!
//! A task of its own reads the connection and feeds a channel of few slots: a use case that is slow
//! slows the sender, and one that stops reading lets the task see to what is left of the body, so that
//! the next request on the connection isn't hurt (decision R12).

mod decode;
mod reader;
mod source;

pub(crate) use decode::Coding;
pub(crate) use reader::BodyReader;

use actix_rt::task::JoinHandle;
use actix_web::dev::Payload;
use bytes::Bytes;
use domain::body::BodyError;
use source::Source;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Chunks on their way. With [`MAX_CHUNK`] it bounds what is buffered for one request.
const SLOTS: usize = 4;

/// Bytes of one chunk at most.
const MAX_CHUNK: usize = 64 * 1024;

/// Bytes of a rest that are read so that the connection can go on; a longer rest closes it.
const MAX_DRAINED: u64 = 1024 * 1024;

/// How long reading such a rest may take.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The body of a request, read or not.
pub(crate) struct Intake(State);

enum State {
    Unread(Source),
    Read(JoinHandle<Rest>),
    Opened,
}

/// What is left of a body after all reading.
#[derive(Default)]
pub(crate) struct Rest(Option<Payload>);

impl Rest {
    /// Whether the connection can't go on, since what follows can't be told from the rest.
    pub(crate) fn must_close(&self) -> bool {
        self.0.is_some()
    }
}

impl Intake {
    /// A body of which `declared` bytes were announced, or of unknown length. What comes of it is
    /// counted in `received`.
    pub(crate) fn new(
        payload: Payload,
        declared: Option<u64>,
        read_timeout: Duration,
        received: Rc<Cell<u64>>,
    ) -> Self {
        Self(State::Unread(Source::new(payload, declared, read_timeout, received)))
    }

    /// Begins to read. A body can be opened once: a second reader finds nothing.
    pub(crate) fn open(&mut self, coding: Coding) -> BodyReader {
        let (sender, receiver) = mpsc::channel(SLOTS);
        self.0 = match std::mem::replace(&mut self.0, State::Opened) {
            State::Unread(source) => State::Read(actix_rt::spawn(pump(source, coding, sender))),
            other => other,
        };
        BodyReader::new(receiver)
    }

    /// Reads a whole body of at most `limit` bytes.
    pub(crate) async fn collect(&mut self, coding: Coding, limit: u64) -> Result<Vec<u8>, BodyError> {
        match &mut self.0 {
            // Nothing goes on while it is read: it needs no task.
            State::Unread(source) if coding == Coding::Identity => gather(limit, async || source.chunk().await).await,
            _ => {
                let mut body = self.open(coding);
                gather(limit, async || body.next().await).await
            }
        }
    }

    /// Leaves the body unread.
    pub(crate) fn given_up(self) -> Rest {
        match self.0 {
            State::Unread(source) => source.give_up(),
            State::Read(_) | State::Opened => Rest::default(),
        }
    }

    /// Sees to what is left, once all reading is done.
    pub(crate) async fn rest(self) -> Rest {
        match self.0 {
            State::Unread(source) => source.drain(MAX_DRAINED, DRAIN_TIME).await,
            State::Read(pump) => pump.await.unwrap_or_default(),
            State::Opened => Rest::default(),
        }
    }
}

/// All of what `next` gives, if it has at most `limit` bytes.
async fn gather(
    limit: u64,
    mut next: impl AsyncFnMut() -> Result<Option<Bytes>, BodyError>,
) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = next().await? {
        if (body.len() + chunk.len()) as u64 > limit {
            return Err(BodyError::TooLarge(format!("the body is over {limit} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Feeds the channel until the body ends or nobody wants more of it.
async fn pump(mut source: Source, coding: Coding, sender: mpsc::Sender<Result<Bytes, BodyError>>) -> Rest {
    let fed = decode::feed(&mut source, coding, &sender).await;
    if let Err(error) = fed {
        // Nobody listens any more where this fails.
        drop(sender.send(Err(error)).await);
    }
    drop(sender);
    source.drain(MAX_DRAINED, DRAIN_TIME).await
}
