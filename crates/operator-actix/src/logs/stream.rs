//! Log entries as server-sent events.

use super::{Arrival, LiveLog, LogBody, LogReader, LogsQuery};
use crate::authenticate::{Caller, is_still_signed_in};
use crate::error::Problem;
use crate::openapi::Problems;
use crate::query::Query;
use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use domain::error::error_chain;
use domain::log_entry::LogNumber;
use domain::operator::{OperatorError, OrganizationList};
use domain::operator_log::OperatorLogEntry;
use futures_util::stream::{self, Stream};
use http_actix::RequestInfo;
use serde::Deserialize;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::Instant;
use utoipa::IntoParams;

/// How often a comment is sent, so that proxies and browsers see that the connection lives.
const COMMENT_EVERY: Duration = Duration::from_secs(15);

/// How often the session or the token is checked: an end takes effect within 5 seconds (decisions P3, P6).
const CHECK_EVERY: Duration = Duration::from_secs(4);

/// After how many milliseconds a browser connects again.
const RECONNECT_AFTER: u32 = 2_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Where a stream begins.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Start {
    /// The `id` of an event: the stream goes on after it. The header `Last-Event-ID`, which browsers send when they connect
    /// again, goes before it. Without either the stream begins now.
    pub after: Option<String>,
}

impl Start {
    /// The position after which the stream of a request begins.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`]
    pub fn position(&self, request: &HttpRequest) -> Result<Option<LogNumber>, OperatorError> {
        let header = request.headers().get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
        let text = header.or(self.after.as_deref()).filter(|text| !text.is_empty());
        let unknown = || OperatorError::invalid("after", "must be the id of an event");
        text.map(|text| LogNumber::parse(text).ok_or_else(unknown)).transpose()
    }
}

/// How an entry becomes the data of an event.
pub struct LogEvent {
    /// The name of the events; none for the usual name, `message`.
    pub name: Option<&'static str>,
    pub data: Box<dyn Fn(OperatorLogEntry) -> String>,
}

/// The entries that match as they arrive, as server-sent events: `id` is the entry's, `data` the entry as in the list. After
/// a lost connection the header `Last-Event-ID` goes on after that event; none is lost and none comes twice. A comment
/// comes every 15 seconds. The event `end` says that the session or the token has ended.
#[utoipa::path(get, path = "/logs/stream", operation_id = "follow_logs", tag = "Log", params(LogsQuery, Start), responses((status = 200, description = "Events without end.", body = LogBody, content_type = "text/event-stream"), Problems))]
pub(crate) async fn follow(
    request: HttpRequest,
    caller: Caller,
    filters: Query<LogsQuery>,
    start: Query<Start>,
    live: Data<LiveLog>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let after = start.0.position(&request)?;
    let query = filters.0.read(&caller, &organizations).await?;
    let reader = live.into_inner().read(query, after).await?;
    let data = Box::new(|entry| serde_json::to_string(&LogBody::from(entry)).unwrap_or_default());
    Ok(stream(request, caller, reader, LogEvent { name: None, data }))
}

/// Answers what a reader is given as events, until the session or the token ends.
#[must_use]
pub fn stream(request: HttpRequest, caller: Caller, reader: LogReader, event: LogEvent) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "text/event-stream"))
        .insert_header((CACHE_CONTROL, "no-cache"))
        .insert_header((X_ACCEL_BUFFERING, "no"));
    if request.method() == Method::HEAD {
        return response.finish();
    }
    response.streaming(Events { request, caller, reader, event, checked: Instant::now(), sent: None }.into_stream())
}

struct Events {
    request: HttpRequest,
    caller: Caller,
    reader: LogReader,
    event: LogEvent,
    /// When the session or the token was checked.
    checked: Instant,
    /// When something was sent; `None` at the beginning.
    sent: Option<Instant>,
}

impl Events {
    fn into_stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(Some(self), |events| async {
            let mut events = events?;
            let (text, goes_on) = events.next().await?;
            Some((Ok(Bytes::from(text)), goes_on.then_some(events)))
        })
    }

    /// The next text, and whether more follows.
    async fn next(&mut self) -> Option<(String, bool)> {
        if self.sent.is_none() {
            self.sent = Some(Instant::now());
            return Some((format!("retry: {RECONNECT_AFTER}\n{}", self.comment()), true));
        }
        loop {
            if self.checked.elapsed() >= CHECK_EVERY {
                if !is_still_signed_in(&self.request, &self.caller.signed_in).await {
                    return Some(("event: end\ndata: the session or the token has ended\n\n".to_owned(), false));
                }
                self.checked = Instant::now();
            }
            let text = match self.reader.next(self.wait()).await {
                Ok(Arrival::Entries(entries)) => entries.into_iter().map(|entry| self.text_of(entry)).collect(),
                Ok(Arrival::Quiet) => String::new(),
                Ok(Arrival::Closed) => return None,
                Err(error) => {
                    let (request_id, cause) = (RequestInfo::of(&self.request).id, error_chain(&error));
                    tracing::error!(request_id, cause, "a stream of log entries broke off");
                    return None;
                }
            };
            let is_silent = self.sent.is_none_or(|sent| sent.elapsed() >= COMMENT_EVERY);
            let text = if text.is_empty() && is_silent { self.comment() } else { text };
            if !text.is_empty() {
                self.sent = Some(Instant::now());
                return Some((text, true));
            }
        }
    }

    /// Until the next comment or check.
    fn wait(&self) -> Duration {
        let silent = self.sent.map_or(COMMENT_EVERY, |sent| COMMENT_EVERY.saturating_sub(sent.elapsed()));
        silent.min(CHECK_EVERY.saturating_sub(self.checked.elapsed()))
    }

    /// A comment with the position, so that a stream without matches goes on where it is too.
    fn comment(&self) -> String {
        format!(": following\nid: {}\n\n", self.reader.position())
    }

    fn text_of(&self, entry: OperatorLogEntry) -> String {
        let number = entry.entry.number;
        let name = self.event.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}id: {number}\n{}\n", data_lines(&(self.event.data)(entry)))
    }
}

/// A text as lines of data. A carriage return ends a line too: what clients sent must not begin another field.
fn data_lines(text: &str) -> String {
    let lines = text.replace("\r\n", "\n");
    lines.split(['\n', '\r']).flat_map(|line| ["data: ", line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::data_lines;

    /// Decision P7.
    #[test]
    fn no_text_begins_another_field() {
        assert_eq!(data_lines("one"), "data: one\n");
        let hostile = "a\rid: 7\r\nevent: end\n\nretry: 1";
        assert_eq!(data_lines(hostile), "data: a\ndata: id: 7\ndata: event: end\ndata: \ndata: retry: 1\n");
    }
}
