//! Gives each request an id, a span and a line in the log, and records its metrics (decisions R4, A9).

use super::context::{Ending, REQUEST_ID, RequestContext};
use crate::error::ApiError;
use actix_web::Error;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderValue;
use actix_web::http::{ConnectionType, Method, Version};
use actix_web::middleware::Next;
use bytes::Bytes;
use std::error::Error as StdError;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tracing::Instrument;

/// Most bytes of a body that the connection gets at once. actix copies them into a buffer, which grows to their size.
const MAX_CHUNK: usize = 256 * 1024;

/// Calls the rest of the application. The line is logged when the response has been sent.
pub(crate) async fn log_request(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<LoggedBody>, Error> {
    let context = RequestContext::of(request.request());
    let mut response = next.call(request).instrument(context.span.clone()).await?;
    if let Some(error) = response.response().error().and_then(|error| error.as_error::<ApiError>()) {
        context.log_error(error);
        context.record_refusal(error, response.request());
    }
    if let Ok(id) = HeaderValue::from_str(&context.request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let request = response.request();
    // HTTP/1.0 knows no chunks: the end of the connection ends such a body.
    let ends_with_connection =
        response.response().body().size() == BodySize::Stream && request.version() < Version::HTTP_11;
    let (is_head, declines_upgrade) = (request.method() == Method::HEAD, request.head().upgrade());
    let head = response.response_mut().head_mut();
    if declines_upgrade || ends_with_connection {
        head.set_connection_type(ConnectionType::Close);
    }
    head.no_chunking(ends_with_connection);
    let status = head.status.as_u16();
    Ok(response.map_body(|_, body| LoggedBody {
        announced: body.size(),
        body: body.boxed(),
        chunk: Bytes::new(),
        sent: 0,
        is_complete: is_head,
        status,
        context,
    }))
}

/// The body of a response while it is sent. When it is dropped, the request has ended.
pub(crate) struct LoggedBody {
    body: BoxBody,
    announced: BodySize,
    /// What is left of the last chunk.
    chunk: Bytes,
    sent: u64,
    is_complete: bool,
    status: u16,
    context: Rc<RequestContext>,
}

impl MessageBody for LoggedBody {
    type Error = Box<dyn StdError>;

    fn size(&self) -> BodySize {
        self.announced
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        while this.chunk.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_next(cx)) {
                Some(Ok(bytes)) => this.chunk = bytes,
                Some(Err(error)) => {
                    this.context.log_error(&ApiError::body_broke_off(&*error));
                    return Poll::Ready(Some(Err("the body broke off".into())));
                }
                None => {
                    this.is_complete |= match this.announced {
                        BodySize::Sized(size) => this.sent == size,
                        BodySize::None | BodySize::Stream => true,
                    };
                    return Poll::Ready(None);
                }
            }
        }
        let chunk = this.chunk.split_to(this.chunk.len().min(MAX_CHUNK));
        this.sent += chunk.len() as u64;
        Poll::Ready(Some(Ok(chunk)))
    }
}

impl Drop for LoggedBody {
    fn drop(&mut self) {
        let is_bodiless = matches!(self.announced, BodySize::None | BodySize::Sized(0));
        let is_whole = self.is_complete || is_bodiless;
        self.context.end(Ending { status: self.status, sent: self.sent, is_whole });
    }
}
