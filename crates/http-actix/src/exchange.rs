//! One request from its head to the last byte of its answer: its identity, its line in the log, its
//! place in the metrics (decisions R4, A9).

use crate::client;
use crate::error::{ERROR_DETAIL, Fault};
use crate::extract::credentials;
use crate::format::Format;
use crate::headers;
use crate::intake::Rest;
use crate::meters::Finished;
use crate::observe::RequestSpan;
use crate::reply::{Answer, Content};
use crate::route::{Match, Operation};
use crate::server::Shared;
use crate::trace::Trace;
use crate::wire::{Framing, Turn};
use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::RequestHead;
use actix_web::http::header::{ACCEPT, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use actix_web::http::{ConnectionType, Method, StatusCode, Uri, Version};
use bytes::Bytes;
use domain::access::ClaimedComputer;
use domain::caller::Caller;
use domain::clock::IdSource;
use domain::error::StoreError;
use domain::refusal::{NewRefusal, Owner};
use domain::text::cut;
use std::cell::{Cell, OnceCell};
use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Characters of a path in the log.
const MAX_PATH: usize = 200;

/// Bytes of a body that are handed to the connection at once: for each, the system wakes the client once.
const PIECE: usize = 256 * 1024;

/// How a request ended.
#[derive(Debug, Clone, Copy)]
struct Ending {
    status: u16,
    /// Bytes of the body of the answer.
    sent: u64,
    is_whole: bool,
}

/// The end of a request whose client hung up before it was answered; nobody ever sees this status.
const HUNG_UP: Ending = Ending { status: 499, sent: 0, is_whole: false };

/// What is known of a request.
pub(crate) struct Exchange {
    pub(crate) request_id: String,
    pub(crate) route: Match,
    /// Who sent it: who is connected, or whom a trusted proxy names.
    pub(crate) client: Option<IpAddr>,
    method: Method,
    uri: Uri,
    version: Version,
    is_upgrade: bool,
    format: Format,
    caller: OnceCell<Rc<Caller>>,
    /// The computer that it named without being admitted: for the operator, never for the answer.
    named: Cell<Option<ClaimedComputer>>,
    trace: Option<Trace>,
    /// The word for why it is refused, if it is.
    refusal: Cell<Option<&'static str>>,
    /// How it ended.
    over: Cell<Option<Ending>>,
    /// Bytes of its body so far.
    received: Rc<Cell<u64>>,
    started: Instant,
    shared: Arc<Shared>,
    turn: Option<Rc<Turn>>,
}

impl Exchange {
    /// Takes a request up.
    pub(crate) fn begin(shared: Arc<Shared>, head: &RequestHead, turn: Option<&Rc<Turn>>) -> Rc<Self> {
        if let Some(turn) = turn {
            turn.begin(framing(head));
        }
        let route = shared.router.find(head.method.as_str(), head.uri.path());
        let format = match route {
            Match::Found { operation: Operation::AddCrashReport, .. } => {
                Format::negotiate(headers::texts(&head.headers, &ACCEPT).iter().map(String::as_str))
            }
            _ => Format::Json,
        };
        shared.meters.running.increment(1.0);
        let ids = &*shared.config.ids;
        let begins = || shared.config.observers.traces.as_ref().map(|_| Trace::begin(ids.guid().into_bytes()));
        Rc::new(Self {
            request_id: request_id(&head.headers, ids),
            route,
            client: head
                .peer_addr
                .map(|peer| client::address(peer.ip(), &head.headers, &shared.config.trusted_proxies)),
            method: head.method.clone(),
            uri: head.uri.clone(),
            version: head.version,
            is_upgrade: head.upgrade(),
            format,
            caller: OnceCell::new(),
            named: Cell::new(None),
            trace: Trace::of(&head.headers).or_else(begins),
            refusal: Cell::new(None),
            over: Cell::new(None),
            received: Rc::default(),
            started: Instant::now(),
            turn: turn.cloned(),
            shared,
        })
    }

    /// Who calls, once that is known.
    pub(crate) fn called_by(&self, caller: &Rc<Caller>) {
        // A request has one caller.
        let _ = self.caller.set(Rc::clone(caller));
    }

    /// Nobody was admitted, but it is known whose `HardwareHash` was sent.
    pub(crate) fn names(&self, computer: ClaimedComputer) {
        self.named.set(Some(computer));
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// What counts the bytes of the body.
    pub(crate) fn received(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.received)
    }

    pub(crate) fn authentication_failed(&self, reason: &'static str) {
        self.shared.meters.authentication_failed(reason);
    }

    fn operation_name(&self) -> &'static str {
        match self.route {
            Match::Found { operation, .. } => operation.name(),
            Match::NoPath | Match::NoMethod { .. } => "none",
        }
    }

    /// A fresh id for its span, if the trace that it belongs to is recorded.
    fn span_id(&self) -> Option<[u8; 8]> {
        let is_recorded = self.trace.is_some_and(|trace| trace.is_sampled);
        is_recorded.then(|| self.shared.config.ids.guid().as_bytes().first_chunk().copied()).flatten()
    }

    /// The answer to a request with this head that failed. Refusals are recorded here.
    pub(crate) fn refuse(&self, fault: &Fault, head: &RequestHead) -> Answer {
        let answer = self.fail(fault);
        if let Some(reason) = fault.code()
            && fault.is_recorded()
        {
            self.record(reason, &answer, head);
        }
        answer
    }

    /// The answer to what failed. What went wrong on our side is logged here, once.
    fn fail(&self, fault: &Fault) -> Answer {
        if let Some(cause) = fault.cause() {
            let operation = self.operation_name();
            tracing::error!(request_id = self.request_id, operation, cause, "a request failed on our side");
        }
        let answer = fault.answer(self.format);
        if let Some(reason) = fault.code() {
            self.refusal.set(Some(reason));
            self.shared.meters.refused(reason);
        }
        answer
    }

    /// Hands the refusal to whoever keeps refusals; it neither waits nor fails.
    fn record(&self, reason: &'static str, answer: &Answer, head: &RequestHead) {
        let Some(refusals) = self.shared.refusals() else {
            return;
        };
        let address = self.client.map(|client| client.to_string());
        let detail = answer.headers.iter().find(|(name, _)| *name == ERROR_DETAIL);
        let refusal = NewRefusal {
            at: self.shared.config.clock.now(),
            owner: Owner::Address(address.clone().unwrap_or_default()),
            operation: self.operation_name().to_owned(),
            credential: credentials::kind(&head.headers),
            user: None,
            computer: None,
            named: None,
            serial_number: String::new(),
            application_version: String::new(),
            address,
            status: answer.status.as_u16(),
            reason: reason.to_owned(),
            detail: detail.and_then(|(_, text)| text.to_str().ok()).unwrap_or_default().to_owned(),
            request_id: self.request_id.clone(),
        };
        refusals.refused(match self.caller.get() {
            Some(caller) => refusal.of_caller(caller),
            None => refusal.of_stranger(&credentials::sent(&head.headers), self.named.get()),
        });
    }

    /// The answer as HTTP. `rest` is what of the request's body was left unread.
    pub(crate) fn finish(self: Rc<Self>, answer: Answer, rest: Rest) -> HttpResponse {
        let is_streamed = matches!(answer.content, Content::Streamed(_));
        // HTTP/1.0 knows no chunks: the end of the connection ends such a body.
        let ends_with_connection = is_streamed && self.version < Version::HTTP_11;
        let closes = rest.must_close() || self.is_upgrade || ends_with_connection;
        let request_id = HeaderValue::from_str(&self.request_id);
        let body = AnswerBody {
            is_complete: self.method == Method::HEAD,
            announced: answer.content.size(),
            content: answer.content,
            piece: Bytes::new(),
            sent: 0,
            status: answer.status,
            exchange: self,
            _rest: rest,
        };
        let mut response = HttpResponse::with_body(answer.status, body);
        for (name, value) in answer.headers {
            response.headers_mut().append(name, value);
        }
        if let Ok(id) = request_id {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        if closes {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        response.head_mut().no_chunking(ends_with_connection);
        response.map_into_boxed_body()
    }
}

/// How the body of a request is framed, as actix reads it too.
pub(crate) fn framing(head: &RequestHead) -> Framing {
    if head.headers.contains_key(TRANSFER_ENCODING) {
        return Framing::Chunked;
    }
    match declared_length(&head.headers) {
        Some(length) => Framing::Length(length),
        None if head.upgrade() => Framing::Open,
        None => Framing::Length(0),
    }
}

/// The Content-Length of a request.
pub(crate) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// The id that the client gave, if it is usable, else a fresh one.
fn request_id(headers: &HeaderMap, ids: &dyn IdSource) -> String {
    let is_usable = |id: &&str| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    let sent = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(is_usable);
    sent.map_or_else(|| ids.guid().as_hyphenated().to_string(), str::to_owned)
}

impl Content {
    fn size(&self) -> BodySize {
        match self {
            Self::None => BodySize::None,
            Self::Whole(bytes) => BodySize::Sized(bytes.len() as u64),
            Self::Announced(size) | Self::Sized(size, _) => BodySize::Sized(*size),
            Self::Streamed(_) => BodySize::Stream,
        }
    }
}

/// The body on its way out. When it is dropped the exchange is over.
struct AnswerBody {
    content: Content,
    announced: BodySize,
    /// What is left of the last chunk.
    piece: Bytes,
    sent: u64,
    is_complete: bool,
    status: StatusCode,
    exchange: Rc<Exchange>,
    /// Kept to the end: as long as an unread body exists, actix knows that it must close.
    _rest: Rest,
}

impl AnswerBody {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, StoreError>>> {
        match &mut self.content {
            Content::None | Content::Announced(_) => Poll::Ready(None),
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(std::mem::take(bytes)))),
            Content::Sized(_, stream) | Content::Streamed(stream) => stream.as_mut().poll_next(cx),
        }
    }
}

impl MessageBody for AnswerBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.announced
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let body = self.get_mut();
        while body.piece.is_empty() {
            match ready!(body.poll_chunk(cx)) {
                Some(Ok(bytes)) => body.piece = bytes,
                Some(Err(error)) => {
                    body.exchange.fail(&Fault::from(error));
                    return Poll::Ready(Some(Err("the body broke off".into())));
                }
                None => {
                    body.is_complete = match body.announced {
                        BodySize::Sized(size) => body.is_complete || body.sent == size,
                        BodySize::None | BodySize::Stream => true,
                    };
                    return Poll::Ready(None);
                }
            }
        }
        // actix copies what it is given, and its buffer grows to the size of a piece.
        let piece = body.piece.split_to(body.piece.len().min(PIECE));
        body.sent += piece.len() as u64;
        Poll::Ready(Some(Ok(piece)))
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if let Some(turn) = &self.exchange.turn {
            turn.end();
        }
        let is_bodiless = matches!(self.announced, BodySize::None | BodySize::Sized(0));
        let is_whole = self.is_complete || is_bodiless;
        self.exchange.over.set(Some(Ending { status: self.status.as_u16(), sent: self.sent, is_whole }));
    }
}

/// The line in the log, and what is counted: once for each request, however it ended.
impl Drop for Exchange {
    fn drop(&mut self) {
        let Ending { status, sent, is_whole } = self.over.get().unwrap_or(HUNG_UP);
        let (operation, received, duration) = (self.operation_name(), self.received.get(), self.started.elapsed());
        self.shared.meters.finished(Finished { operation, status, duration, received, sent });
        let caller = self.caller.get();
        let organization = caller.map(|caller| caller.organization_name.as_str());
        let (path, client) = (cut(self.uri.path(), MAX_PATH), self.client);
        tracing::info!(
            request_id = self.request_id,
            trace_id = self.trace.map(|trace| tracing::field::display(trace.id)),
            method = %self.method,
            path,
            operation,
            organization,
            user = caller.and_then(|caller| caller.user.as_deref()),
            computer = caller.and_then(|caller| caller.computer.as_ref()).map(|computer| tracing::field::display(computer.guid)),
            client = client.map(tracing::field::display),
            status,
            reason = self.refusal.get(),
            bytes_in = received,
            bytes_out = sent,
            duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            broke_off = !is_whole,
            "answered"
        );
        let config = &self.shared.config;
        let Some(((traces, trace), id)) = config.observers.traces.as_ref().zip(self.trace).zip(self.span_id()) else {
            return;
        };
        traces.record(&RequestSpan {
            trace,
            id,
            ended: config.clock.now(),
            duration,
            request_id: &self.request_id,
            method: self.method.as_str(),
            path: &path,
            operation,
            status,
            organization,
            client,
            refusal: self.refusal.get(),
            received,
            sent,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::CountingIds;

    #[test]
    fn a_usable_request_id_is_kept() {
        // Decision R4.
        let ids = CountingIds::default();
        let with = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_str(value).unwrap());
            request_id(&headers, &ids)
        };
        let longest = "x".repeat(128);
        for id in ["a", "A.b_c-9", longest.as_str()] {
            assert_eq!(with(id), id);
        }
        for id in ["", "a b", "a/b", &"x".repeat(129), "\"a\""] {
            assert_eq!(with(id).len(), 36, "{id}");
        }
        assert_eq!(request_id(&HeaderMap::new(), &ids).len(), 36);
    }
}
