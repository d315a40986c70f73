//! Reads and discards what a handler left of a request's body (decision R12).
//!
//! A client may send the whole body before it reads the response. If the connection were closed earlier, the client
//! would find a reset in place of the response. A short rest is discarded before the response, so that the connection
//! can be kept. Otherwise the response is sent, the rest is discarded while the client already has the response, and
//! the connection closes as soon as all has arrived.

use actix_web::Error;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::{Extensions, Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::ConnectionType;
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpResponse};
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt, Stream, StreamExt};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error as StdError;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::timeout;

/// Most bytes that are discarded before the response is sent.
const SHORT_REST: usize = 64 * 1024;

/// How long the response waits for a short rest.
const SHORT_WAIT: Duration = Duration::from_millis(100);

/// How long a client may go on sending after the response.
const MAX_TIME: Duration = Duration::from_mins(1);

/// How long the server waits for more of the rest. So a client that has stopped sending doesn't delay a shutdown.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Set when the connection closes after the current response.
#[derive(Default)]
struct IsClosing(Cell<bool>);

/// Prepares a new connection; an argument of `HttpServer::on_connect`.
pub(crate) fn on_connect(_: &dyn Any, connection: &mut Extensions) {
    connection.insert(IsClosing::default());
}

/// Calls the rest of the application, then discards what is left of the body.
pub(crate) async fn discard_unread_body<B: MessageBody + Unpin + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BodyThenDiscard<B>>, Error> {
    if request.conn_data::<IsClosing>().is_some_and(|is_closing| is_closing.0.get()) {
        // The client sent this request before it read `Connection: close`, and will send it again.
        let refused = async { Err("a request came after the last response of its connection".into()) };
        let body = BodyThenDiscard { body: None, discard: Some(refused.boxed_local()) };
        return Ok(request.into_response(HttpResponse::Ok().finish().set_body(body)));
    }
    let mut rest = SharedPayload(Rc::new(RefCell::new(request.take_payload())));
    request.set_payload(Payload::from(rest.clone().boxed_local()));
    let mut response = next.call(request).await?;
    if timeout(SHORT_WAIT, rest.discard(SHORT_REST)).await == Ok(true) {
        return Ok(response.map_body(|_, body| BodyThenDiscard { body: Some(body), discard: None }));
    }
    response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    if let Some(is_closing) = response.request().conn_data::<IsClosing>() {
        is_closing.0.set(true);
    }
    let discard = timeout(MAX_TIME, async move {
        // Lets the connection send the response first.
        yield_now().await;
        while let Ok(Some(Ok(_))) = timeout(MAX_PAUSE, rest.next()).await {}
    });
    let discard = discard.map(|_| Ok(())).boxed_local();
    Ok(response.map_body(|_, body| BodyThenDiscard { body: Some(body), discard: Some(discard) }))
}

/// The body of a request, which this middleware reads after the handler. It is empty after an error.
#[derive(Clone)]
struct SharedPayload(Rc<RefCell<Payload>>);

impl Stream for SharedPayload {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut payload = self.0.borrow_mut();
        let next = ready!(payload.poll_next_unpin(cx));
        if !matches!(next, Some(Ok(_))) {
            *payload = Payload::None;
        }
        Poll::Ready(next)
    }
}

impl SharedPayload {
    /// Discards the rest; `false` if it is longer than `limit` bytes.
    async fn discard(&mut self, limit: usize) -> bool {
        let mut discarded = 0;
        while let Some(Ok(bytes)) = self.next().await {
            discarded += bytes.len();
            if discarded > limit {
                return false;
            }
        }
        true
    }
}

/// The body of a response. It ends when the rest of the request's body is discarded.
pub(crate) struct BodyThenDiscard<B> {
    /// Dropped at its end: then the request is logged as complete.
    body: Option<B>,
    discard: Option<LocalBoxFuture<'static, Result<(), Box<dyn StdError>>>>,
}

impl<B: MessageBody + Unpin> MessageBody for BodyThenDiscard<B> {
    type Error = Box<dyn StdError>;

    fn size(&self) -> BodySize {
        self.body.as_ref().map_or(BodySize::Stream, MessageBody::size)
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        if let Some(body) = &mut this.body {
            if let Some(item) = ready!(Pin::new(body).poll_next(cx)) {
                return Poll::Ready(Some(item.map_err(Into::into)));
            }
            this.body = None;
        }
        if let Some(discard) = &mut this.discard {
            let discarded = ready!(discard.as_mut().poll(cx));
            this.discard = None;
            return Poll::Ready(discarded.err().map(Err));
        }
        Poll::Ready(None)
    }
}
